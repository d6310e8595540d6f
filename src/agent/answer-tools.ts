import type { Ending, LoopState } from './state.ts';

/** Tools whose call is the answer: once one of them has taken what the model gives it, the run ends as `answered`. */
export interface AnswerTools {
  /** As the model sees them. */
  readonly tools: readonly string[];
  /** Most calls of them, those that fail and those that don't fit their schema included. Default 3. */
  readonly attempts?: number;
}

/** How the calls that have been answered end the run, or null when it goes on. */
export function answeredByTool({ config, tried }: LoopState): Ending | null {
  if (config.answer === undefined) return null;
  const { tools, attempts = 3 } = config.answer;
  const own = tried.filter(({ name }) => tools.includes(name));
  if (own.some(({ outcome }) => outcome === 'ok')) return { how: 'answered', reason: 'answer_tool', message: '' };
  if (own.length < attempts) return null;
  const message = `The answer was tried ${attempts} ${attempts === 1 ? 'time' : 'times'} and still doesn't hold.`;
  return { how: 'limit', reason: 'answerAttempts', message };
}
