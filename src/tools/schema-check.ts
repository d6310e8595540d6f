import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Json, Reason } from '../contracts/index.ts';
import { BridleError } from './bridle-error.ts';
import { canonicalJson } from './canonical.ts';
import { inspectAnySchema } from './schema-inspect.ts';
import { type SchemaIssue, schemaIssues } from './schema-issues.ts';
import { linearEngine, type Pattern } from './schema-pattern.ts';
import { prepareSchema, STEP } from './schema-prepare.ts';

/** A compiled schema. `notes`: what of it is not enforced, and why. */
export interface SchemaCheck {
  /** What is wrong with the value; empty when it fits. Never throws, and always ends. */
  check(value: Json): readonly SchemaIssue[];
  readonly notes: readonly Reason[];
}

/** References followed for one value before a check gives up. */
const MAX_STEPS = 200_000;
/** Compiled schemas kept; the oldest goes first. */
const CACHE_SIZE = 2_000;
/** Members of a value up to which all its errors are collected, not only the first. */
const MAX_LISTED = 20_000;

const cache = new Map<string, Promise<SchemaCheck>>();

class TooManySteps extends Error {}

/**
 * Compiles a JSON Schema 2020-12 (older drafts are read as they were meant).
 *
 * @param options `origin`: `own` schemas may use every ECMAScript pattern; those from `outside` are matched in linear
 *   time, and what that engine has no form for isn't enforced and leaves a note
 * @throws BridleError `schema_invalid` when it is over a cap or not a schema
 */
export function compileSchema(schema: Json, options: { readonly origin: 'own' | 'outside' }): Promise<SchemaCheck> {
  const reason = inspectAnySchema(schema);
  if (reason) return Promise.reject(new BridleError('schema_invalid', reason.text, { hint: HINT }));
  const key = `${options.origin} ${JSON.stringify(schema)}`;
  const cached = cache.get(key);
  if (cached) return cached;
  const compiled = compile(schema, options.origin);
  cache.set(key, compiled);
  if (cache.size > CACHE_SIZE)
    for (const oldest of cache.keys()) {
      cache.delete(oldest);
      break;
    }
  return compiled;
}

const HINT = 'Check the schema with a JSON Schema 2020-12 validator and correct it where the tool is defined.';

function nativePattern(pattern: string): Pattern | null {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Not a pattern under these flags.
    }
  }
  return null;
}

async function compile(schema: Json, origin: 'own' | 'outside'): Promise<SchemaCheck> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const patterns = new Map<string, Pattern | null>();
  const engine = origin === 'outside' ? await linearEngine() : { compile: nativePattern };
  const compilePattern = (pattern: string): Pattern | null => {
    const known = patterns.get(pattern);
    if (known !== undefined) return known;
    const made = engine.compile(pattern);
    patterns.set(pattern, made);
    return made;
  };
  const prepared = prepareSchema(schema, compilePattern);
  let steps = 0;
  const make = (allErrors: boolean): ValidateFunction => {
    const ajv = new Ajv2020({
      allErrors,
      verbose: true,
      strict: false,
      validateFormats: false,
      validateSchema: false,
      ownProperties: true,
      logger: false,
      inlineRefs: false,
      code: {
        regExp: Object.assign((pattern: string) => compilePattern(pattern) ?? { test: () => true }, {
          code: 'pattern',
        }),
      },
    });
    ajv.addKeyword({
      keyword: STEP,
      errors: false,
      validate: () => {
        if (++steps > MAX_STEPS) throw new TooManySteps();
        return true;
      },
    });
    ajv.removeKeyword('uniqueItems');
    ajv.addKeyword({
      keyword: 'uniqueItems',
      type: 'array',
      errors: false,
      validate: (wanted: unknown, data: Json[]) =>
        wanted !== true || new Set(data.map(canonicalJson)).size === data.length,
    });
    return ajv.compile(prepared.schema as object | boolean);
  };
  let first: ValidateFunction;
  try {
    first = make(false);
  } catch (cause) {
    throw new BridleError('schema_invalid', `A schema can't be compiled: ${why(cause)}`, { cause, hint: HINT });
  }
  let all: ValidateFunction | null = null;
  return {
    notes: prepared.notes,
    check(value) {
      steps = 0;
      try {
        if (first(value)) return [];
        const errors: readonly ErrorObject[] = first.errors ?? [];
        if (isLarge(value)) return schemaIssues(errors);
        steps = 0;
        all ??= make(true);
        all(value);
        return schemaIssues(all.errors ?? errors);
      } catch (error) {
        return [{ path: '', message: cannotCheck(error) }];
      }
    },
  };
}

function why(error: unknown): string {
  if (error instanceof RangeError) return 'it refers to itself without end.';
  return error instanceof Error ? error.message : String(error);
}

function cannotCheck(error: unknown): string {
  if (error instanceof RangeError) return "is nested too deeply to check against the tool's schema";
  if (error instanceof TooManySteps)
    return "would take too long to check against the tool's schema; try a smaller value";
  return `could not be checked: ${why(error)}`;
}

function isLarge(value: Json): boolean {
  let members = 0;
  const stack: Json[] = [value];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (++members > MAX_LISTED) return true;
    if (typeof next === 'object' && next !== null) for (const member of Object.values(next)) stack.push(member);
  }
  return false;
}
