import type { JsonObject, Reason } from '../contracts/index.ts';
import { defineTool, missingReasons, outputFormat, ownInputSchema, type Tool, ToolFailure } from '../tools/index.ts';
import { type AnswerIssue, answerJudge, issuesInWords, mendable } from './answer-check.ts';
import { isObject } from './blocks.ts';
import type { RecordType } from './extract.ts';

/** The tool by which the model says that none of the types fits. */
const NO_RECORD = 'no_record';
/** Beside a record's own members. */
export const REASON = 'choice_reason';

export interface ExtractionTools {
  readonly tools: readonly Tool[];
  readonly warnings: readonly Reason[];
  /** The type of a tool's name; undefined for any other tool. */
  typeOf(tool: string): string | undefined;
  /** The arguments of a call as a record, and why this type. */
  recordOf(args: JsonObject): { readonly value: JsonObject; readonly reason: string };
  /** What the check of a call found, by its id; absent where the call didn't come so far. */
  readonly found: ReadonlyMap<string, readonly AnswerIssue[]>;
  /** Why there is no record, when the model said so. */
  declined(): string | null;
  /** What the check of a type threw. */
  fault(): unknown;
}

/**
 * A tool for each type, whose call is checked and kept.
 *
 * @param choosing the model chooses: it says why, and may say that none fits
 * @param onFault a check threw
 */
export function extractionTools(
  types: readonly RecordType[],
  choosing: boolean,
  onFault: (fault: unknown) => void,
): ExtractionTools {
  const found = new Map<string, readonly AnswerIssue[]>();
  const byTool = new Map(types.map(({ name }) => [`extract_${name}`, name]));
  let declined: string | null = null;
  let fault: unknown = null;
  const strict = strictAmong(
    types.map(({ name, schema }) => {
      const json = ownInputSchema(schema, `extract_${name}`);
      return choosing ? withReason(json) : json;
    }),
  );
  const toolOf = (type: RecordType, at: number): Tool => {
    const name = `extract_${type.name}`;
    const json = ownInputSchema(type.schema, name);
    const judge = answerJudge(type.schema, type.check, `the record "${type.name}"`);
    const schema = choosing ? withReason(json) : json;
    const made = defineTool(
      {
        name,
        description: isOpenEnded(json) ? `${type.description} ${OPEN_KEYS}` : type.description,
        input: schema as JsonObject & { readonly [keyword: string]: unknown },
        annotations: { readOnlyHint: true },
        ...(strict[at] === true && { strict: true }),
      },
      async (args, { callId }) => {
        const issues = await judge(recordOf(args as JsonObject).value).catch((error: unknown) => {
          fault = error;
          onFault(error);
          throw new ToolFailure('The check of the record broke off.');
        });
        found.set(callId, issues);
        if (mendable(issues).length === 0) return { recorded: true };
        throw new ToolFailure(`The record does not hold. What is wrong with it: ${issuesInWords(issues)}`, {
          category: 'validation',
          retryable: true,
          executed: 'not_executed',
        });
      },
    );
    return made as Tool;
  };
  const noRecord = defineTool(
    {
      name: NO_RECORD,
      description:
        'Says that none of the other tools fits what the document is. Do not use it for values that are missing.',
      input: {
        type: 'object',
        properties: { reason: { type: 'string', description: 'What the document is, in a sentence.' } },
        required: ['reason'],
      },
      annotations: { readOnlyHint: true },
      strict: true,
    },
    ({ reason }) => {
      declined = reason;
      return { recorded: false };
    },
  );
  return {
    tools: [...types.map(toolOf), ...(choosing ? [noRecord as Tool] : [])],
    warnings: types.flatMap(({ name, schema }) =>
      missingReasons(ownInputSchema(schema, name)).map((reason) => ({ ...reason, text: `${name}: ${reason.text}` })),
    ),
    typeOf: (tool) => byTool.get(tool),
    recordOf,
    found,
    declined: () => declined,
    fault: () => fault,
  };

  function recordOf(args: JsonObject): { readonly value: JsonObject; readonly reason: string } {
    if (!choosing) return { value: args, reason: '' };
    const { [REASON]: reason, ...value } = args;
    return { value, reason: typeof reason === 'string' ? reason : '' };
  }
}

/** Which of the schemas may be strict: those that can be, in order, as far as the API's bounds for all together go. */
function strictAmong(schemas: readonly JsonObject[]): readonly boolean[] {
  const taken: JsonObject[] = [];
  return schemas.map((schema) => {
    const all = [...taken, schema].map((each, at) => [`t${at}`, each] as const);
    const together = { type: 'object', properties: Object.fromEntries(all), required: all.map(([name]) => name) };
    const fits = 'schema' in outputFormat(schema) && 'schema' in outputFormat(together);
    if (fits) taken.push(schema);
    return fits;
  });
}

const OPEN_KEYS =
  'Keys that the schema does not list are yours to name: take what the document calls a thing, in lower case with ' +
  'underscores, and give every such thing that it states.';

/** The reason comes first: the model decides before it fills anything in. */
/** Whether a record has a member of that name itself. */
export function hasReason(schema: JsonObject): boolean {
  return isObject(schema.properties) && Object.hasOwn(schema.properties, REASON);
}

function withReason(schema: JsonObject): JsonObject {
  const reason = { type: 'string', description: 'What the document is for, in a sentence: why this tool fits it.' };
  const required = Array.isArray(schema.required) ? schema.required : [];
  return {
    ...schema,
    properties: { [REASON]: reason, ...(isObject(schema.properties) && schema.properties) },
    required: [REASON, ...required],
  };
}

function isOpenEnded(schema: JsonObject): boolean {
  if (isObject(schema.additionalProperties) || schema.additionalProperties === true) return true;
  const properties = Object.values(isObject(schema.properties) ? schema.properties : {});
  return properties.some((property) => isObject(property) && isOpenEnded(property));
}
