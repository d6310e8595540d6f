import { describe, expect, test } from 'vitest';
import { readMessages } from './message.ts';

describe('reading a line', () => {
  test.each([
    ['a banner', 'Server listening'],
    ['broken JSON', '{"jsonrpc":"2.0","id":1,'],
    ['a log line', '{"level":"info","method":"start"}'],
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"result":{}}'],
    ['a bare value', '42'],
    ['an empty batch', '[]'],
    ['a batch of something else', '[{"level":"info"},1]'],
    ['neither request nor answer', '{"jsonrpc":"2.0","id":1}'],
    ['an answer without an id', '{"jsonrpc":"2.0","result":{}}'],
    ['a request with an object as id', '{"jsonrpc":"2.0","id":{},"method":"ping"}'],
  ])('%s is no message', (_, line) => {
    expect(readMessages(line)).toBeNull();
  });

  test('a result is kept as written', () => {
    const [message] = readMessages('{"result":{"n":1.0,"big":90071992547409931},"jsonrpc":"2.0","id":3}') ?? [];
    expect(message).toMatchObject({ kind: 'result', id: 3, result: { text: '{"n":1.0,"big":90071992547409931}' } });
  });

  test('an error carries code, message and data as written', () => {
    const [message] =
      readMessages('{"jsonrpc":"2.0","id":3,"error":{"code":-32022,"message":"no","data":{"a": 1.50}}}') ?? [];
    expect(message).toMatchObject({ kind: 'error', id: 3, code: -32022, message: 'no', data: { text: '{"a": 1.50}' } });
  });

  test('an error that is no object is an error all the same: its request is over', () => {
    expect(readMessages('{"jsonrpc":"2.0","id":1,"error":"boom"}')).toEqual([
      { kind: 'error', id: 1, code: 0, message: 'boom' },
    ]);
    expect(readMessages('{"jsonrpc":"2.0","id":1,"error":[7]}')).toEqual([
      { kind: 'error', id: 1, code: 0, message: '[7]' },
    ]);
  });

  test('an error about a message that could not be read has no id', () => {
    const [message] = readMessages('{"jsonrpc":"2.0","error":{"code":-32700,"message":"parse"}}') ?? [];
    expect(message).toMatchObject({ kind: 'error', id: null });
  });

  test('something else in a batch does not cost the messages beside it', () => {
    const messages = readMessages('[{"jsonrpc":"2.0","method":"a"},1,{"jsonrpc":"2.0","id":2,"result":{}}]');
    expect(messages).toMatchObject([{ method: 'a' }, { id: 2 }]);
  });

  test('names such as __proto__ and constructor are members like others', () => {
    const [message] =
      readMessages('{"jsonrpc":"2.0","id":1,"__proto__":{"result":1},"constructor":2,"result":{}}') ?? [];
    expect(message).toMatchObject({ kind: 'result', result: { text: '{}' } });
    expect(readMessages('{"jsonrpc":"2.0","id":1,"__proto__":{"result":{}}}')).toBeNull();
  });
});
