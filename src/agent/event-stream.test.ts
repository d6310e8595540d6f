import { describe, expect, test } from 'vitest';
import { EventStream } from './event-stream.ts';
import type { RunEvent, RunResult } from './events.ts';
import { drain } from './fixtures.ts';

const wait = (ms: number): RunEvent => ({ type: 'wait', ms, reason: 'test' });
const text = (piece: string): RunEvent => ({ type: 'text', text: piece });
const result: RunResult = {
  end: 'answered',
  text: '',
  messages: [],
  usage: { inputTokens: 0, outputTokens: 0 },
  turns: 0,
  calls: 0,
  conversation: 'c',
};
const end: RunEvent = { type: 'end', result };

describe('an event stream', () => {
  test('keeps what nobody has read, up to a bound, and tells a late reader how much is gone', async () => {
    const stream = new EventStream(10);
    for (let ms = 0; ms < 1_000; ms += 1) stream.push(wait(ms));
    stream.push(end);
    const events = await drain(stream);
    expect(events.length).toBeLessThanOrEqual(22);
    const [first] = events;
    expect(first).toMatchObject({ type: 'skipped' });
    const skipped = first?.type === 'skipped' ? first.count : 0;
    expect(events.slice(1)).toEqual([...Array.from({ length: 1_000 - skipped }, (_, at) => wait(skipped + at)), end]);
  });

  test('joins unread pieces of text, so that they take one place', async () => {
    const stream = new EventStream(10);
    for (let at = 0; at < 1_000; at += 1) stream.push(text('ab'));
    stream.push(end);
    expect(await drain(stream)).toEqual([text('ab'.repeat(1_000)), end]);
  });

  test('joins what belongs to one call, and nothing of two', async () => {
    const piece = (index: number, part: string): RunEvent => ({ type: 'arguments', index, name: 'write', piece: part });
    const stream = new EventStream();
    for (const part of ['', '{"a"', ':1}', '']) stream.push(piece(0, part));
    stream.push(piece(1, ''));
    stream.push(piece(1, '{}'));
    stream.push({ type: 'thinking', text: 'a' });
    stream.push({ type: 'thinking', text: 'b' });
    stream.push(text('c'));
    stream.push(end);
    expect(await drain(stream)).toEqual([
      piece(0, '{"a":1}'),
      piece(0, ''),
      piece(1, '{}'),
      { type: 'thinking', text: 'ab' },
      text('c'),
      end,
    ]);
  });

  test('gives a waiting reader each piece as it comes', async () => {
    const stream = new EventStream();
    const reader = stream[Symbol.asyncIterator]();
    const first = reader.next();
    stream.push(text('a'));
    expect((await first).value).toEqual(text('a'));
    stream.push(text('b'));
    stream.push(text('c'));
    expect((await reader.next()).value).toEqual(text('bc'));
  });

  test('a reader that leaves early costs the others nothing', async () => {
    const stream = new EventStream();
    stream.push(wait(1));
    for await (const event of stream) {
      expect(event).toEqual(wait(1));
      break;
    }
    stream.push(end);
    expect(await drain(stream)).toEqual([wait(1), end]);
  });

  test('a slow reader is told what it missed and goes on', async () => {
    const stream = new EventStream(2);
    stream.push(wait(0));
    const reader = stream[Symbol.asyncIterator]();
    await reader.next();
    for (let ms = 1; ms <= 10; ms += 1) stream.push(wait(ms));
    const next = await reader.next();
    expect(next.value).toMatchObject({ type: 'skipped' });
    const count = next.value?.type === 'skipped' ? next.value.count : 0;
    expect((await reader.next()).value).toEqual(wait(count + 1));
  });

  test('takes nothing after its end', async () => {
    const stream = new EventStream();
    stream.push(end);
    stream.push(wait(1));
    expect(await drain(stream)).toEqual([end]);
  });
});
