import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Json, Reason } from '../contracts/index.ts';
import { BridleError } from './bridle-error.ts';
import { canonicalJson, sha256 } from './canonical.ts';
import { inspectAnySchema } from './schema-inspect.ts';
import { type SchemaIssue, schemaIssues } from './schema-issues.ts';
import { type LinearEngine, linearEngine, type Pattern, TooMuchMatching } from './schema-pattern.ts';
import { prepareSchema, STEP, withoutIds } from './schema-prepare.ts';

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

const byText = new Map<string, Promise<SchemaCheck>>();
const byObject = {
  own: new WeakMap<object, Promise<SchemaCheck>>(),
  outside: new WeakMap<object, Promise<SchemaCheck>>(),
};

class TooManySteps extends Error {}

/**
 * Compiles a JSON Schema 2020-12 (older drafts are read as they were meant). Compiled once for each text; a schema
 * object must not be changed afterwards.
 *
 * @param options `origin`: `own` schemas may use every ECMAScript pattern; those from `outside` are matched in linear
 *   time, and what that engine has no form for isn't enforced and leaves a note
 * @throws BridleError `schema_invalid` when it is over a cap or not a schema
 */
export function compileSchema(schema: Json, options: { readonly origin: 'own' | 'outside' }): Promise<SchemaCheck> {
  const objects = byObject[options.origin];
  const key = typeof schema === 'object' && schema !== null ? schema : null;
  const known = key && objects.get(key);
  if (known) return known;
  const compiled = compiledByText(schema, options.origin);
  if (key) objects.set(key, compiled);
  return compiled;
}

function compiledByText(schema: Json, origin: 'own' | 'outside'): Promise<SchemaCheck> {
  const reason = inspectAnySchema(schema);
  if (reason) return Promise.reject(new BridleError('schema_invalid', reason.text, { hint: HINT }));
  const key = sha256(`${origin} ${JSON.stringify(schema)}`);
  const known = byText.get(key);
  if (known) return known;
  const compiled = compile(schema, origin);
  byText.set(key, compiled);
  if (byText.size > CACHE_SIZE) {
    for (const oldest of byText.keys()) {
      byText.delete(oldest);
      break;
    }
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

/** The validator keeps one expression for each text that it prints as, so each must print as its own. */
function named(pattern: string, compiled: Pattern | null): Pattern {
  return { test: (text) => compiled?.test(text) ?? true, toString: () => pattern };
}

async function compile(schema: Json, origin: 'own' | 'outside'): Promise<SchemaCheck> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const patterns = new Map<string, Pattern | null>();
  const engine: LinearEngine = origin === 'outside' ? await linearEngine() : { compile: nativePattern, renew() {} };
  const compilePattern = (pattern: string): Pattern | null => {
    const known = patterns.get(pattern);
    if (known !== undefined) return known;
    const made = engine.compile(pattern);
    patterns.set(pattern, made);
    return made;
  };
  const prepared = prepareSchema(schema, compilePattern);
  let steps = 0;
  const make = (what: Json, allErrors: boolean): ValidateFunction => {
    const ajv = new Ajv2020({
      allErrors,
      verbose: true,
      strict: false,
      validateFormats: false,
      validateSchema: false,
      meta: false,
      ownProperties: true,
      logger: false,
      inlineRefs: false,
      code: {
        // Optimising is quadratic in the width of an object, and buys little.
        optimize: false,
        regExp: Object.assign((pattern: string) => named(pattern, compilePattern(pattern)), { code: 'pattern' }),
      },
    });
    ajv.addKeyword({
      keyword: STEP,
      // Counted on the way in: a branch that fails must count too.
      before: '$ref',
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
    return ajv.compile(what as object | boolean);
  };
  const first = firstThatCompiles([
    () => make(prepared.schema, false),
    // Stopping at the first error nests the code once for each property: a very wide object has to do without.
    () => make(prepared.schema, true),
    // Parts that bear the same identifier are what else goes wrong, and local references need none.
    () => make(withoutIds(prepared.schema), true),
  ]);
  const allErrors = () => {
    try {
      return make(prepared.schema, true);
    } catch {
      return first;
    }
  };
  let all: ValidateFunction | null = null;
  return {
    notes: prepared.notes,
    check(value) {
      steps = 0;
      engine.renew();
      try {
        if (first(value)) return [];
        const errors: readonly ErrorObject[] = first.errors ?? [];
        if (isLarge(value)) return schemaIssues(errors);
        steps = 0;
        engine.renew();
        all ??= allErrors();
        all(value);
        return schemaIssues(all.errors ?? errors);
      } catch (error) {
        return [{ path: '', message: cannotCheck(error) }];
      }
    },
  };
}

function firstThatCompiles(attempts: readonly (() => ValidateFunction)[]): ValidateFunction {
  let cause: unknown;
  for (const attempt of attempts) {
    try {
      const validate = attempt();
      // The engine reads a function's code when it first runs: code too nested for it shows only now.
      validate(null);
      return validate;
    } catch (error) {
      cause ??= error;
    }
  }
  throw new BridleError('schema_invalid', `A schema can't be compiled: ${why(cause)}`, { cause, hint: HINT });
}

function why(error: unknown): string {
  if (error instanceof RangeError) return 'it is too wide, or refers to itself without end.';
  return error instanceof Error ? error.message : String(error);
}

function cannotCheck(error: unknown): string {
  if (error instanceof RangeError) return "is nested too deeply to check against the tool's schema";
  if (error instanceof TooManySteps || error instanceof TooMuchMatching)
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
