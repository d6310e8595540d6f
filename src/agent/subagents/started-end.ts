/**
 * Rule of this file: a run that did not answer is a failure that whoever started it can act on. It is never told as an
 * empty answer, and never as a bare "it failed".
 */
import type { Failure, Json, JsonObject, SourceResult, StartedRun } from '../../contracts/index.ts';
import { printable, rawFrom } from '../../tools/index.ts';
import type { RunEnd, RunResult } from '../events.ts';
import type { EffectsOfRun } from './effects-of-run.ts';

/** Ends of the model that pass by themselves: trying again may go well. */
const TRANSIENT = new Set([
  'model_connection_lost',
  'model_failed',
  'model_overloaded',
  'model_rate_limited',
  'model_silent',
  'model_timeout',
  'model_unreachable',
]);

export function isTransient({ end, error }: Pick<RunResult, 'end' | 'error'>): boolean {
  return end === 'failed' && error !== undefined && TRANSIENT.has(error.code);
}

/** What the call that started a run gives back. */
export function startedEnd(
  result: RunResult,
  run: StartedRun,
  { effects, tries }: { readonly effects: Pick<EffectsOfRun, 'executed' | 'attempts'>; readonly tries: number },
): SourceResult {
  if (result.end === 'answered' && result.text.trim() !== '') {
    const waits = run.parked.map(({ name, approval }) => `${name} (approval ${approval})`).join(', ');
    const content: Json[] = [{ type: 'text', text: result.text }];
    if (waits !== '')
      content.push({ type: 'text', text: `These of its calls wait for approval and have not run: ${waits}.` });
    const about = { agent: run.agent, conversation: run.conversation, turns: result.turns, calls: result.calls };
    return { kind: 'result', raw: rawFrom({ content, _meta: { 'bridle/run': about } }), isError: false, run };
  }
  const { category, why, alternatives } = described(result);
  const again = tries > 1 ? ` It was tried ${tries} times.` : '';
  return {
    kind: 'failure',
    failure: {
      category,
      retryable: category === 'transient',
      message: `The agent "${run.agent}" did not finish its task. ${why}${again}`,
      executed: effects.executed(),
      attempts: effects.attempts(),
      alternatives,
      partial: rawFrom(partialOf(result, run)),
    },
    run,
  };
}

function partialOf({ end, text, turns, calls, handoff }: RunResult, { parked }: StartedRun): JsonObject {
  const pending = handoff?.pending.flatMap((each) =>
    each.kind === 'call' ? [{ name: each.name, args: each.args }] : [],
  );
  return {
    end,
    ...(text.trim() !== '' && { text }),
    turns,
    calls,
    ...(pending !== undefined && pending.length > 0 && { notRun: pending }),
    ...(parked.length > 0 && { waitForApproval: parked.map(({ name, approval }) => ({ name, approval })) }),
  };
}

interface Described extends Pick<Failure, 'category'> {
  readonly why: string;
  readonly alternatives: readonly string[];
}

const SMALLER = 'Start it again with a smaller part of the task.';
const ONESELF = 'Go on from the partial results with your own tools.';

/** More time may do, and so may a permission; other limits are met again. */
const LIMIT_CATEGORIES: ReadonlyMap<string, Failure['category']> = new Map([
  ['ms', 'transient'],
  ['denials', 'permission'],
]);

function described(result: RunResult): Described {
  const ends: Readonly<Record<RunEnd, () => Described>> = {
    answered: () => ({
      category: 'business',
      why: 'It ended without an answer.',
      alternatives: ['Start it again and say what its answer has to hold.', ONESELF],
    }),
    asked: () => ({
      category: 'business',
      why: `It has a question: ${printable(result.text, { newlines: true, maxLength: 2_000 })}`,
      alternatives: ['Start it again with the answer in its task.', 'Put the question to the user.'],
    }),
    refused: () => ({
      category: 'business',
      why: 'Its model declined the task.',
      alternatives: ['Tell the user, or put the task otherwise.'],
    }),
    truncated: () => ({
      category: 'business',
      why: 'Its answer did not fit into a reply.',
      alternatives: [SMALLER, 'Ask it for a shorter answer.'],
    }),
    limit: () => ({
      category: LIMIT_CATEGORIES.get(result.handoff?.reason ?? '') ?? 'business',
      why: result.handoff?.message ?? 'It reached a limit.',
      alternatives: [SMALLER, ONESELF],
    }),
    aborted: () => ({ category: 'transient', why: 'It was stopped.', alternatives: [ONESELF] }),
    failed: () => ({
      category: isTransient(result) ? 'transient' : 'business',
      why: result.error?.message ?? 'It failed.',
      alternatives: [...(isTransient(result) ? ['Start it again later.'] : []), ONESELF],
    }),
  };
  return ends[result.end]();
}
