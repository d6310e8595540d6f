/**
 * How many calls the developer would like in one reply. The first three are words of the system prompt, which a model may
 * not follow; `off` is enforced by the API (`disable_parallel_tool_use`), except beside tools that code may call.
 */
export type ParallelWish = 'encourage' | 'independent' | 'sequential' | 'off';

const WORDS: Readonly<Record<ParallelWish, string>> = {
  encourage:
    'When several tool calls are needed and none depends on what another returns, make them all in the same reply. ' +
    'Where one needs the result of another, wait for it: never guess a value or put a placeholder in its place.',
  independent: 'Put only tool calls that are independent of each other into the same reply.',
  sequential: 'Make one tool call at a time, and read its result before you make the next.',
  off: '',
};

/** What the system prompt says of it; it stays the same for a run, so that what is cached stays cached. */
export function parallelWords(wish: ParallelWish | undefined): string {
  return wish === undefined ? '' : WORDS[wish];
}
