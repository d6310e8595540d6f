import { randomUUID } from 'node:crypto';
import type { ServerContext } from '@modelcontextprotocol/server';
import type { CallContext } from '../../contracts/index.ts';
import { askClient } from './client-input.ts';
import { isObject } from './is-object.ts';
import type { Peer } from './peer.ts';

/** Longest silence and longest call in milliseconds. The client has its own, shorter ones; these only free resources. */
const IDLE_MS = 5 * 60_000;
const HARD_MS = 60 * 60_000;

type OnEvent = NonNullable<CallContext['onEvent']>;
export type Answers = NonNullable<CallContext['answers']>;

/**
 * One call as the host sees it. `capabilities` are those that a client of the older revisions declared. `answers` are those to an
 * earlier round; `redelivery` names the call where the client may send it again.
 */
export function callContext(
  peer: Peer,
  ctx: ServerContext,
  { onEvent, capabilities }: { readonly onEvent: OnEvent; capabilities(): unknown },
  { answers, redelivery }: { readonly answers?: Answers | undefined; readonly redelivery?: string | undefined },
): CallContext {
  return {
    callId: randomUUID(),
    who: peer.who,
    signal: ctx.mcpReq.signal,
    idleMs: IDLE_MS,
    hardMs: HARD_MS,
    onEvent,
    ...(answers && { answers }),
    ...(redelivery !== undefined && { redelivery }),
    // Revision 2026-07-28 has no requests from server to client: there, input is asked for by an input_required result.
    ...(peer.era === 'legacy'
      ? { input: (request) => askClient(ctx, request.parse(), capabilities()) }
      : { takesQuestions: true }),
  };
}

/** What the request answers of an earlier round. */
export function answersIn(ctx: ServerContext): Answers | undefined {
  const { inputResponses } = ctx.mcpReq;
  const state = ctx.mcpReq.requestState<unknown>();
  if (inputResponses === undefined && typeof state !== 'string') return undefined;
  const responses = isObject(inputResponses) ? inputResponses : {};
  return { responses, ...(typeof state === 'string' && { state }) };
}

/** Progress and log messages of one call, in order, and none after its result or its cancellation. */
export function eventRelay(ctx: ServerContext): { readonly onEvent: OnEvent; finish(): Promise<void> } {
  const token = ctx.mcpReq._meta?.progressToken;
  const sending = new Set<Promise<void>>();
  let open = true;
  // A client that can't be told of progress is no reason to lose the result, and the call may go on for long after one
  // has left: each failure is dealt with as it comes.
  const track = (sent: Promise<unknown>) => {
    const settled: Promise<void> = sent.then(
      () => void sending.delete(settled),
      () => void sending.delete(settled),
    );
    sending.add(settled);
  };
  return {
    onEvent(event) {
      if (!open || ctx.mcpReq.signal.aborted) return;
      const params = event.raw.parse();
      if (!isObject(params)) return;
      if (event.kind === 'log') {
        const logger = typeof params.logger === 'string' ? params.logger : undefined;
        // The SDK compares levels by table, and an unknown one is below every threshold.
        track(ctx.mcpReq.log(params.level as Parameters<typeof ctx.mcpReq.log>[0], params.data, logger));
      } else if (token !== undefined) {
        const progress = { ...params, progressToken: token } as { progressToken: string | number; progress: number };
        track(ctx.mcpReq.notify({ method: 'notifications/progress', params: progress }));
      }
    },
    async finish() {
      open = false;
      await Promise.all(sending);
    },
  };
}
