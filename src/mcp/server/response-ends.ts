import type { ServerResponse } from 'node:http';

/** Most answers that wait for each other: the first of many must not wait for all. */
const MOST = 32;

/** The answers that are ready in this turn of the event loop. */
let ready: { readonly response: ServerResponse; readonly body: string }[] = [];

/**
 * Ends a response whose head is written when this turn of the event loop is over, together with the others that were ready
 * in it. Each write may wake a client, which then competes with the answers to all others: a client that gets several
 * at once is woken once.
 */
export function endSoon(response: ServerResponse, body: string): void {
  ready.push({ response, body });
  if (ready.length === 1) setImmediate(endReady);
  else if (ready.length === MOST) endReady();
}

/** Ends them now, as before connections are closed. */
export function endReady(): void {
  const ending = ready;
  ready = [];
  for (const { response, body } of ending) response.end(body);
}
