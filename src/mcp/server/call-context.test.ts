import type { ServerContext } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rawFrom } from '../../tools/index.ts';
import { eventRelay } from './call-context.ts';

const unhandled = vi.fn();
beforeEach(() => {
  unhandled.mockClear();
  process.on('unhandledRejection', unhandled);
});
afterEach(() => {
  process.off('unhandledRejection', unhandled);
});

/** What a call's context is to the relay: somewhere to send, which `notify` decides about, and a signal. */
function relayTo(notify: () => Promise<void>) {
  const cancelled = new AbortController();
  const mcpReq = { _meta: { progressToken: 't' }, signal: cancelled.signal, notify, log: notify };
  return { ...eventRelay({ mcpReq } as unknown as ServerContext), cancelled };
}

const progress = { kind: 'progress', raw: rawFrom({ progress: 1 }) } as const;
const log = { kind: 'log', raw: rawFrom({ level: 'info', data: 'x' }) } as const;
const later = () => new Promise((resolve) => setTimeout(resolve, 10));

test('a client that is gone while a call goes on is nobody to tell, and no fault of the process', async () => {
  const { onEvent, finish } = relayTo(async () => {
    throw new Error('Not connected');
  });
  onEvent(progress);
  onEvent(log);
  await later();
  await finish();
  expect(unhandled).not.toHaveBeenCalled();
});

test('of a cancelled or a finished call nothing more is told', async () => {
  const notify = vi.fn(async () => {});
  const { onEvent, finish, cancelled } = relayTo(notify);
  onEvent(progress);
  cancelled.abort();
  onEvent(progress);
  await finish();
  const other = relayTo(notify);
  await other.finish();
  other.onEvent(log);
  expect(notify).toHaveBeenCalledOnce();
});

test('the result waits for what is still being sent', async () => {
  let sent = () => {};
  const { onEvent, finish } = relayTo(
    () =>
      new Promise<void>((resolve) => {
        sent = resolve;
      }),
  );
  onEvent(progress);
  let finished = false;
  const end = finish().then(() => {
    finished = true;
  });
  await later();
  expect(finished).toBe(false);
  sent();
  await end;
  expect(finished).toBe(true);
});
