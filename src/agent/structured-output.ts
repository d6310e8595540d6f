import type { Json, LoopEvent } from '../contracts/index.ts';
import { BridleError, harnessNote, outputFormat, ownOutputSchema, type ToolSchema } from '../tools/index.ts';
import {
  type AnswerCheck,
  type AnswerIssue,
  answerJudge,
  issuesInWords,
  mendable,
  readIssues,
} from './answer-check.ts';
import { contentBlocks, isObject } from './blocks.ts';
import { finish, type Next, still } from './finish.ts';
import { request } from './request.ts';
import { checkFault } from './shell-faults.ts';
import type { LoopState } from './state.ts';
import { addNote } from './transcript.ts';

/** What the answer of a run has to be. */
export interface OutputOptions {
  /** A schema of an object: Zod 4, another Standard Schema with JSON Schema, or JSON Schema. */
  readonly schema: ToolSchema;
  /** What a schema can't say, of an answer that fits it: sums that must match, say. */
  readonly check?: AnswerCheck<never>;
  /** How often the model is asked again, with what was wrong. Default 2. */
  readonly retries?: number;
}

/** One answer of a run that has an `output`. */
export interface OutputAttempt {
  /** As the model wrote it. */
  readonly text: string;
  /** Absent when the text is no JSON. */
  readonly value?: Json;
  readonly issues: readonly AnswerIssue[];
}

/** What came of a run's `output`. */
export interface RunOutput {
  /** The answer, as the model wrote it; there only when it fits its schema and its check. */
  readonly value?: Json;
  /** What the check found that the source doesn't say. */
  readonly missing: readonly AnswerIssue[];
  /** Every answer, in order, with what was wrong with it. */
  readonly attempts: readonly OutputAttempt[];
}

const RETRIES = 2;

/**
 * `output_config.format` for a schema.
 *
 * @throws BridleError `output_schema_unusable` for a schema that the model can't be held to
 */
export function outputFormatOf({ schema }: OutputOptions): Json {
  const json = ownOutputSchema(schema, 'output');
  const format = outputFormat(json);
  if ('schema' in format) return { type: 'json_schema', schema: format.schema };
  throw new BridleError(
    'output_schema_unusable',
    `A model can't be held to the schema of the output: ${format.refused}`,
    {
      hint: 'Change that, or use extract: a schema of a tool need not be enforced while it is written.',
    },
  );
}

/**
 * @param input what the user says
 * @param before the conversation so far
 * @throws BridleError `output_with_citations`
 */
export function checkCitations(input: Json, before: readonly Json[]): void {
  const messages = [...before, { role: 'user', content: input }];
  const cites = (block: Json): boolean =>
    isObject(block) && ((isObject(block.citations) && block.citations.enabled === true) || within(block.content));
  const within = (content: Json | undefined): boolean => Array.isArray(content) && content.some(cites);
  if (!messages.some((message) => isObject(message) && contentBlocks(message.content).some(cites))) return;
  throw new BridleError(
    'output_with_citations',
    'An answer by a schema has no room for citations, which a document here asks for.',
    {
      hint: 'Take "citations" off the document, or leave "output" out.',
    },
  );
}

/** What a check of an answer comes to, for the fold. */
export type Checked = Pick<Extract<LoopEvent, { readonly type: 'checked' }>, 'issues' | 'again' | 'failed'>;
export type OutputCheck = (text: string, attempt: number) => Promise<Checked>;

/** The check of a run's answers. Rejects when the schema or the user's function is at fault. */
export function outputCheck({ schema, check, retries = RETRIES }: OutputOptions): OutputCheck {
  const judge = answerJudge(schema, check, 'the output');
  return async (text, attempt) => {
    const value = parsed(text);
    const issues = value === undefined ? [{ path: '', message: NO_JSON }] : await judge(value);
    const told = { issues: issues.map((issue) => ({ ...issue })) };
    if (mendable(issues).length === 0) return told;
    const words = issuesInWords(issues);
    if (attempt > retries) {
      const message = `The answer was asked for ${attempt} ${attempt === 1 ? 'time' : 'times'} and still doesn't hold: ${words}`;
      const hint = 'See output.attempts of the result: each answer, and what was wrong with it.';
      return { ...told, failed: { code: 'output_invalid', message, hint } };
    }
    const again =
      `the answer above does not hold. What is wrong with it: ${words}. Give the whole answer again, with that put right ` +
      'from the source. Where the source does not say something, say so as the schema allows, and invent nothing.';
    return { ...told, again: harnessNote(again) };
  };
}

const NO_JSON = 'is no JSON: give one JSON value that fits the schema, and nothing around it';

/** Checks an answer, whatever its check does: what the check is held to may itself be at fault. */
export async function checkAnswer(check: OutputCheck | undefined, text: string, attempt: number): Promise<Checked> {
  if (check === undefined) return UNCHECKED;
  try {
    return await check(text, attempt);
  } catch (error) {
    return { issues: [], failed: checkFault(error) };
  }
}

/** For a run that goes on in a program which doesn't hold its answer to anything any more. */
const UNCHECKED: Checked = {
  issues: [],
  failed: {
    code: 'output_unchecked',
    message: 'The answer was to be checked, and this program has no check for it.',
    hint: 'Give the agent the output that the run was begun with.',
  },
};

/** The reply ends the turn with an answer: it is checked before the run ends. */
export function toCheck(state: LoopState): Next {
  const attempt = state.checks.length + 1;
  return { state: { ...state, waitingFor: 'check' }, effects: [{ type: 'check', text: state.text, attempt }] };
}

/** An answer has been checked. */
export function onChecked(state: LoopState, event: Extract<LoopEvent, { readonly type: 'checked' }>): Next {
  const { transcript, text } = state;
  if (state.waitingFor !== 'check' || transcript.state !== 'ready') return still(state);
  const value = parsed(text);
  const attempt: OutputAttempt = { text, ...(value !== undefined && { value }), issues: readIssues(event.issues) };
  const now: LoopState = { ...state, checks: [...state.checks, attempt] };
  if (event.failed !== undefined) {
    const { code, message, hint } = event.failed;
    return finish(now, { how: 'failed', reason: code, message, ...(hint !== undefined && { hint }) });
  }
  if (event.again === undefined) {
    return finish(now, { how: 'answered', reason: state.stop?.reason ?? 'end_turn', message: '' });
  }
  return request({ ...now, transcript: addNote(transcript, event.again, state.config.noteRole) }, event.at);
}

/** What came of it, for the result. */
export function runOutput({ checks, end }: LoopState): RunOutput {
  const last = checks.at(-1);
  const isGood = end?.how === 'answered' && last?.value !== undefined && mendable(last.issues).length === 0;
  return {
    ...(isGood && { value: last.value }),
    missing: isGood ? last.issues : [],
    attempts: checks,
  };
}

/** The text as JSON, and as nothing else: no words around it, no fence. */
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
