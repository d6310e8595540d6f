import { expect, test, vi } from 'vitest';
import type { JsonObject } from '../../contracts/index.ts';
import { rawFrom } from '../../tools/index.ts';
import { callContext, eventRelay } from './call-context.ts';
import type { Exchange } from './peer.ts';

function exchange(meta: JsonObject, era: 'legacy' | 'modern' = 'modern') {
  const cancelled = new AbortController();
  const notify = vi.fn();
  const one: Exchange = {
    peer: { who: { agent: 'a', via: 'library' }, conversation: 'c', era },
    signal: cancelled.signal,
    meta,
    capabilities: {},
    wantsLog: (level) => level === 'error',
    notify,
  };
  return { exchange: one, notify, cancelled };
}

const progress = { kind: 'progress', raw: rawFrom({ progress: 1 }) } as const;
const log = (level: string) => ({ kind: 'log', raw: rawFrom({ level, data: 'x' }) }) as const;

test('of a cancelled or a finished call nothing more is told', () => {
  const cancelled = exchange({ progressToken: 't' });
  const first = eventRelay(cancelled.exchange);
  first.onEvent(progress);
  cancelled.cancelled.abort();
  first.onEvent(progress);
  expect(cancelled.notify.mock.calls).toEqual([['notifications/progress', { progress: 1, progressToken: 't' }]]);
  const finished = exchange({ progressToken: 't' });
  const second = eventRelay(finished.exchange);
  second.finish();
  second.onEvent(progress);
  second.onEvent(log('error'));
  expect(finished.notify).not.toHaveBeenCalled();
});

test('progress is told to who gave a token, and log messages of a level that is wanted', () => {
  const without = exchange({});
  const { onEvent } = eventRelay(without.exchange);
  onEvent(progress);
  onEvent(log('debug'));
  onEvent(log('error'));
  expect(without.notify.mock.calls).toEqual([['notifications/message', { level: 'error', data: 'x' }]]);
  const zero = exchange({ progressToken: 0 });
  eventRelay(zero.exchange).onEvent(progress);
  expect(zero.notify).toHaveBeenCalledWith('notifications/progress', { progress: 1, progressToken: 0 });
});

test("the caller's place in a trace goes on, and nothing that only looks like one", () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01';
  const traceOf = (meta: JsonObject) => callContext(exchange(meta).exchange, () => {}, {}).trace;
  expect(traceOf({ traceparent, tracestate: 'a=1' })).toEqual({ traceparent, tracestate: 'a=1' });
  expect(traceOf({ traceparent, tracestate: 5 })).toEqual({ traceparent });
  expect(traceOf({ traceparent: `${traceparent}-more` })).toBeUndefined();
  expect(traceOf({ traceparent: traceparent.replace(/[0-9a-f]{32}/, '0'.repeat(32)) })).toBeUndefined();
  expect(traceOf({ tracestate: 'a=1' })).toBeUndefined();
});
