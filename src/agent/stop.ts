import type { RunEnd } from './events.ts';

/** Every stop reason of the Messages API that we know. */
const STOP_REASONS = [
  'end_turn',
  'stop_sequence',
  'max_tokens',
  'model_context_window_exceeded',
  'refusal',
  'tool_use',
  'pause_turn',
  'compaction',
] as const;
type StopReason = (typeof STOP_REASONS)[number];

/** What a reply means for the loop. */
export type Verdict =
  | { readonly next: 'run_calls' }
  /** Send the reply back unchanged, with the same tools. */
  | { readonly next: 'send_back' }
  /** The reply was cut: ask once more with a higher limit. */
  | { readonly next: 'ask_again' }
  | {
      readonly next: 'end';
      readonly how: RunEnd;
      readonly error?: { readonly code: string; readonly message: string };
    };

/**
 * What comes after a reply, from its stop reason and from whether it holds calls; its text is never looked at. A reason
 * that we don't know, and a reply that contradicts its own reason, end the run with none of its calls run.
 *
 * @param asked whether the reply is marked, outside its text, as a question to the user
 */
export function judge(stopReason: string, hasCalls: boolean, asked: boolean): Verdict {
  const reason = STOP_REASONS.find((known) => known === stopReason);
  if (reason === undefined) {
    return failed('unknown_stop_reason', `The model stopped for a reason that is not known here: "${stopReason}".`);
  }
  return verdict(reason, hasCalls, asked);
}

function verdict(reason: StopReason, hasCalls: boolean, asked: boolean): Verdict {
  switch (reason) {
    case 'end_turn':
      if (hasCalls)
        return failed('inconsistent_end_turn', 'The model ended its turn and called tools in the same reply.');
      return { next: 'end', how: asked ? 'asked' : 'answered' };
    case 'stop_sequence':
      if (hasCalls) {
        return failed(
          'inconsistent_stop_sequence',
          'The model met a stop sequence and called tools in the same reply.',
        );
      }
      return { next: 'end', how: 'answered' };
    case 'max_tokens':
      return { next: 'ask_again' };
    case 'model_context_window_exceeded':
      return { next: 'end', how: 'truncated' };
    case 'refusal':
      return { next: 'end', how: 'refused' };
    case 'tool_use':
      if (!hasCalls)
        return failed('inconsistent_tool_use', 'The model stopped to call a tool but its reply holds no call.');
      return { next: 'run_calls' };
    case 'pause_turn':
    case 'compaction':
      // A reply with calls can't be sent back without their results.
      if (hasCalls)
        return failed(`inconsistent_${reason}`, `The model stopped with "${reason}" and called tools at once.`);
      return { next: 'send_back' };
    default:
      return unreachable(reason);
  }
}

/** For a reply that asks to be sent back and holds nothing that could be gone on with. */
export function nothingToResume(stopReason: string): { readonly reason: string; readonly message: string } {
  const message = `The model stopped with "${stopReason}", but its reply holds nothing to go on with.`;
  return { reason: `inconsistent_${stopReason}`, message };
}

function failed(code: string, message: string): Verdict {
  return { next: 'end', how: 'failed', error: { code, message } };
}

function unreachable(reason: never): never {
  throw new Error(`Unhandled stop reason: ${String(reason)}`);
}
