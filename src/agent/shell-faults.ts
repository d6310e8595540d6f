import type { Json, LoopEvent, Outcome } from '../contracts/index.ts';
import { BridleError, isBridleError, nestsDeeper } from '../tools/index.ts';

/** Far more than any reply needs, and less than what can be written down and sent back. */
const MOST_DEPTH = 1_000;

/** @throws BridleError `model_reply_malformed` for a reply that no journal could hold */
export function refuseTooDeep(message: Json): void {
  if (!nestsDeeper(message, MOST_DEPTH)) return;
  throw new BridleError('model_reply_malformed', `The reply is nested more than ${MOST_DEPTH} levels deep.`, {
    hint: 'Check the server behind the address.',
  });
}

/** What is told of a model that gave no reply. */
export function modelFault(error: unknown, model: string): { code: string; message: string; hint?: string } {
  if (isBridleError(error)) {
    return { code: error.code, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
  }
  return {
    code: 'model_failed',
    message: `The model "${model}" could not answer: ${words(error)}`,
    hint: 'Check its name, its address and its key, and that it can be reached from here.',
  };
}

/** What is told of an answer that couldn't be checked. */
export function checkFault(error: unknown): { code: string; message: string; hint?: string } {
  if (!isBridleError(error)) return { code: 'answer_check_failed', message: `The check broke off: ${words(error)}` };
  return { code: error.code, message: error.message, ...(error.hint !== undefined && { hint: error.hint }) };
}

/** A thrown value as a sentence. */
export function words(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export function whyStopped(event: LoopEvent): string {
  return event.type === 'limit' ? 'the run reached its time limit' : 'the run was stopped';
}

/** The end of a call that was cancelled and didn't come back. */
export function abandoned(graceMs: number): Outcome {
  const message =
    `The call was cancelled and did not come back within ${graceMs} ms. ` +
    'It had been started, and whether it took effect is not known.';
  return { kind: 'cancelled', failure: { ...unknownFailure, message } };
}

/** The end of a call whose dispatcher threw: whether it took effect isn't known. */
export function brokeOff(error: unknown): Outcome {
  return { kind: 'failed', failure: { ...unknownFailure, message: `The call broke off: ${words(error)}` } };
}

const unknownFailure = {
  category: 'transient',
  retryable: false,
  executed: 'unknown',
  attempts: [],
} as const;
