/**
 * Rule of this file: what a schema can't say of an answer is said by the user's own function, and what it says goes to the
 * model word for word. What the source doesn't tell is no fault of the answer: nobody is asked again for it, since the
 * model could only invent it.
 */
import type { Json } from '../contracts/index.ts';
import {
  BridleError,
  compileSchema,
  isStandardSchema,
  ownOutputSchema,
  printable,
  standardIssues,
  type ToolSchema,
} from '../tools/index.ts';
import { isObject } from './blocks.ts';

/** One thing that is wrong with an answer. */
export interface AnswerIssue {
  /** JSON Pointer (RFC 6901) to the member; '' is the whole answer. */
  readonly path: string;
  /** For the model: what is wrong, with the values that show it, and what was expected. */
  readonly message: string;
  /** The source doesn't say it, so asking again is of no use. */
  readonly absent?: boolean;
}

/** What a check may give back: nothing where all is well, else words or issues, one or several. */
export type CheckFindings =
  | undefined
  | null
  | string
  | Partial<AnswerIssue>
  | readonly (string | Partial<AnswerIssue>)[];

/**
 * Says what is wrong with an answer that fits its schema: sums that don't match, a date before another.
 *
 * @param value as the schema gives it: checked, and with a Standard Schema's defaults and transformations
 */
export type AnswerCheck<T = unknown> = (value: T) => CheckFindings | Promise<CheckFindings>;

/** What is wrong with an answer: its schema first, and only where that is kept, the user's own check. */
export type AnswerJudge = (value: Json) => Promise<readonly AnswerIssue[]>;

/**
 * @param what is checked, for errors
 * @throws (from the judge) BridleError `schema_invalid`; `answer_check_failed` when the user's function throws
 */
export function answerJudge(schema: ToolSchema, check: AnswerCheck<never> | undefined, what: string): AnswerJudge {
  const json = ownOutputSchema(schema, what);
  return async (value) => {
    let checked: unknown = value;
    if (isStandardSchema(schema)) {
      const result = await schema['~standard'].validate(value);
      if (result.issues !== undefined) return standardIssues(result.issues);
      checked = result.value;
    } else {
      const issues = (await compileSchema(json, { origin: 'own' })).check(value);
      if (issues.length > 0) return issues;
    }
    if (check === undefined) return [];
    try {
      return issuesOf(await check(checked as never));
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new BridleError('answer_check_failed', `The check of ${what} broke off: ${why}`, {
        cause,
        hint: 'Return what is wrong with the answer; throw nothing.',
      });
    }
  };
}

function issuesOf(found: CheckFindings): readonly AnswerIssue[] {
  const all = found === undefined || found === null ? [] : Array.isArray(found) ? found : [found];
  return (all as readonly (string | Partial<AnswerIssue>)[]).flatMap((each) => {
    if (typeof each === 'string') return each === '' ? [] : [{ path: '', message: each }];
    const { path = '', message = 'is wrong', absent } = each;
    return [{ path, message, ...(absent === true && { absent }) }];
  });
}

/** Of issues, those that the model can do something about. */
export function mendable(issues: readonly AnswerIssue[]): readonly AnswerIssue[] {
  return issues.filter(({ absent }) => absent !== true);
}

/** Issues in a journal, read back. */
export function readIssues(value: Json): readonly AnswerIssue[] {
  return (Array.isArray(value) ? value : []).flatMap((each): AnswerIssue[] => {
    if (!isObject(each) || typeof each.message !== 'string') return [];
    const path = typeof each.path === 'string' ? each.path : '';
    return [{ path, message: each.message, ...(each.absent === true && { absent: true }) }];
  });
}

const MOST = 25;
const LONGEST = 500;

/** Issues in words, JSON-encoded: they may quote the source. */
export function issuesInWords(issues: readonly AnswerIssue[]): string {
  const lines = mendable(issues).map(({ path, message }) =>
    printable(path === '' ? message : `${path}: ${message}`, { maxLength: LONGEST }),
  );
  const more = lines.length > MOST ? [`and ${lines.length - MOST} more`] : [];
  return JSON.stringify([...lines.slice(0, MOST), ...more]);
}
