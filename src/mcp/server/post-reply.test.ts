import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { PostReply } from './post-reply.ts';
import { endReady } from './response-ends.ts';

const message = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{}}`;

/** A response that notes what becomes of it, and the stream that a reply makes of it. */
function noted() {
  const said: string[] = [];
  const response = {
    headersSent: false,
    writeHead: (status: number) => {
      said.push(`head ${status}`);
      return response;
    },
    end: (text = '') => said.push(`end ${text}`),
  } as unknown as ServerResponse;
  const begin = () => {
    said.push('stream');
    return { send: (text: string) => said.push(`event ${text}`), end: () => said.push('end of stream') };
  };
  return { said, response, begin };
}

describe('the answer to one POST', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is a body of JSON when it comes soon, and nothing is done about it later', () => {
    const { said, response, begin } = noted();
    new PostReply(response, begin).answer(1, '{}');
    vi.advanceTimersByTime(60_000);
    expect(said).toEqual(['head 200', `end ${message(1)}`]);
  });

  test('is a stream when it is late, each ten seconds after its own beginning', () => {
    const one = noted();
    const other = noted();
    const first = new PostReply(one.response, one.begin);
    vi.advanceTimersByTime(6_000);
    const second = new PostReply(other.response, other.begin);
    vi.advanceTimersByTime(4_000);
    expect([one.said, other.said]).toEqual([['stream'], []]);
    vi.advanceTimersByTime(5_999);
    expect(other.said).toEqual([]);
    vi.advanceTimersByTime(1);
    first.answer(1, '{}');
    second.answer(2, '{}');
    expect(one.said).toEqual(['stream', `event ${message(1)}`, 'end of stream']);
    expect(other.said).toEqual(['stream', `event ${message(2)}`, 'end of stream']);
  });

  test('stays a body, however late, for a client that takes no stream', () => {
    const { said, response } = noted();
    const reply = new PostReply(response, null);
    vi.advanceTimersByTime(60_000);
    reply.answer(1, '{}');
    endReady();
    expect(said).toEqual(['head 200', `end ${message(1)}`]);
  });
});
