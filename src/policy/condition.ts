import type { Identity, Json, Origin } from '../contracts/index.ts';
import { keyAt, leavesOf, resolvePointer } from '../tools/index.ts';
import { inWindow, type TimeWindow } from './time-window.ts';
import { agreed, allOf, anyOf, notOf, type Truth, truthOf } from './truth.ts';
import { type TestSurroundings, testValue, type ValueTest } from './value-test.ts';

/** What a rule asks of a call beyond its tool's name. */
export type Condition =
  | { readonly is: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly is: 'not'; readonly of: Condition }
  | { readonly is: 'value'; readonly from: 'args' | 'facts'; readonly pointer: string; readonly test: ValueTest }
  /** `result` is any earlier result, `result:KEY` one of that server. */
  | { readonly is: 'origin'; readonly pointer: string; readonly among: readonly string[] }
  | { readonly is: 'who'; readonly field: 'agent' | 'user' | 'via'; readonly test: ValueTest }
  | { readonly is: 'scope'; readonly among: readonly string[] }
  | { readonly is: 'label'; readonly among: readonly string[] }
  | { readonly is: 'time'; readonly window: TimeWindow };

/** What conditions look at. */
export interface Sight extends TestSurroundings {
  readonly who: Identity;
  /** Absent: the question is about the tool, and what only a call tells is open. */
  readonly call?: {
    readonly args: Json;
    readonly facts?: Json;
    readonly labels: ReadonlySet<string>;
    readonly origins?: ReadonlyMap<string, Origin>;
    readonly at: number;
  };
  /** Filled in: what was looked for and isn't known, in words. */
  readonly missing: Set<string>;
}

export const FACTS_MISSING = 'facts of the call';
const MOST_LEAVES = 10_000;

export function evaluate(condition: Condition, sight: Sight): Truth {
  switch (condition.is) {
    case 'all':
      return allOf(each(condition.of, sight));
    case 'any':
      return anyOf(each(condition.of, sight));
    case 'not':
      return notOf(evaluate(condition.of, sight));
    case 'who': {
      // Patterns are compiled after the first question about a tool: until a call they stay open, so that no answer changes.
      if (!sight.call && usesPattern(condition.test)) return 'open';
      const truth = testValue(condition.test, sight.who[condition.field], sight);
      return noted(truth, `the call's ${condition.field}`, sight);
    }
    case 'scope': {
      const { scopes } = sight.who;
      if (!scopes) return noted('unknown', 'the scopes of the caller', sight);
      return truthOf(condition.among.some((scope) => scopes.includes(scope)));
    }
    default:
      return sight.call ? evaluateCall(condition, sight, sight.call) : 'open';
  }
}

function* each(conditions: readonly Condition[], sight: Sight): Generator<Truth> {
  for (const condition of conditions) yield evaluate(condition, sight);
}

type CallCondition = Extract<Condition, { is: 'value' | 'origin' | 'label' | 'time' }>;

function evaluateCall(condition: CallCondition, sight: Sight, call: NonNullable<Sight['call']>): Truth {
  switch (condition.is) {
    case 'value': {
      const { from, pointer, test } = condition;
      const document = call[from];
      if (document === undefined) return noted('unknown', FACTS_MISSING, sight);
      const shown = pointer === '' ? 'the whole' : pointer;
      return noted(testValue(test, resolvePointer(document, pointer), sight), `${from}:${shown}`, sight);
    }
    case 'origin': {
      const shown = `where ${condition.pointer === '' ? 'the arguments' : condition.pointer} came from`;
      return noted(originsOf(condition, call), shown, sight);
    }
    case 'label': {
      if (condition.among.some((label) => call.labels.has(label))) return 'yes';
      return call.labels.has('unknown') ? noted('unknown', 'what has entered the conversation', sight) : 'no';
    }
    case 'time':
      return noted(inWindow(condition.window, call.at), 'the time', sight);
  }
}

/** Every leaf at or below the pointer, and every key below it that is none of the tool's: certain only where all came from there, or none did. */
function originsOf(
  { pointer, among }: Extract<Condition, { is: 'origin' }>,
  { args, origins }: NonNullable<Sight['call']>,
): Truth {
  const value = resolvePointer(args, pointer);
  if (!origins || value === undefined) return 'unknown';
  const { leaves, whole } = leavesOf(value, MOST_LEAVES);
  if (!whole) return 'unknown';
  const below = keyAt(`${pointer}/`);
  const keys = [...origins].filter(([place]) => place.startsWith(below)).map(([, origin]) => origin);
  return agreed(
    [...leaves.map((leaf) => origins.get(pointer + leaf.pointer)), ...keys].map((origin) =>
      origin ? truthOf(among.some((name) => isOrigin(origin, name))) : 'unknown',
    ),
  );
}

function isOrigin(origin: Origin, name: string): boolean {
  return origin.from === name || (origin.from === 'result' && name === `result:${origin.server ?? ''}`);
}

function usesPattern(test: ValueTest): boolean {
  if (test.test === 'not') return usesPattern(test.of);
  return test.test === 'all' ? test.of.some(usesPattern) : test.test === 'matches';
}

function noted(truth: Truth, what: string, { missing }: Sight): Truth {
  if (truth === 'unknown') missing.add(what);
  return truth;
}
