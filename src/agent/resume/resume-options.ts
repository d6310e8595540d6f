import type { TraceEvent } from '../../contracts/index.ts';
import { BridleError, printable } from '../../tools/index.ts';
import type { RunJournal, RunOptions } from '../agent-options.ts';
import type { UnsureAnswer, UnsureCall } from './open-calls.ts';
import type { RunSegment } from './run-segment.ts';

/** A journal that can be read back: what `openTrace` gives. */
export interface ResumableJournal extends RunJournal {
  /** Everything that is written in it, in order. */
  events(): AsyncIterable<TraceEvent> | Iterable<TraceEvent>;
}

export interface ResumeOptions extends Pick<RunOptions, 'signal' | 'onProgress' | 'output'> {
  /**
   * Asked about each call that isn't known to read and was being made when the run broke off: it may have taken effect.
   * Default, and when it throws: `unknown`.
   */
  readonly unsure?: (call: UnsureCall, signal: AbortSignal) => UnsureAnswer | Promise<UnsureAnswer>;
  /** Limits that hold from here on, in place of those that the run was begun with. */
  readonly limits?: RunOptions['limits'];
}

/** Thinking and provider-run calls of one model's replies are nothing to another. */
export function checkModel({ begun }: RunSegment, model: string): void {
  if (begun === undefined || begun.model === model) return;
  const was = printable(begun.model, { maxLength: 100 });
  throw new BridleError('run_other_model', `This run was begun with the model "${was}", and can go on with no other.`, {
    hint: `Resume it with "${was}", or begin anew.`,
  });
}
