import type { ErrorObject } from 'ajv';
import type { Json } from '../contracts/index.ts';
import { isJsonObject, pointerSegment } from './json-object.ts';
import { cutAt } from './printable.ts';

/** One thing that is wrong with a value. `path` is a JSON Pointer (RFC 6901) to the member; '' is the whole value. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

const SHOWN_VALUE = 80;
const SHOWN_CHOICES = 20;
/** More than a reader can use, and a bound on what a hostile value can make us write. */
const SHOWN_ISSUES = 25;
/** Branches of a failed choice, and errors of a branch, that are told. */
const SHOWN_FORMS = 3;
/** Errors looked at: the grouping below is quadratic. */
const CONSIDERED = 500;

/** "string", "integer", …: the JSON Schema name of a value's type. */
function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** Type and, where it is short enough to help, the value itself. */
function got(value: unknown): string {
  const type = typeOf(value);
  if (type === 'null' || type === 'undefined') return type;
  if (type === 'array' || type === 'object') return type;
  const text = JSON.stringify(value);
  return `${type} ${text.length > SHOWN_VALUE ? `${cutAt(text, SHOWN_VALUE)}…` : text}`;
}

function choices(values: readonly unknown[]): string {
  const shown = values.slice(0, SHOWN_CHOICES).map((v) => {
    const text = JSON.stringify(v) ?? 'null';
    return text.length > SHOWN_VALUE ? `${cutAt(text, SHOWN_VALUE)}…` : text;
  });
  const more = values.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function known(parent: unknown): string {
  const properties = isJsonObject(parent) && isJsonObject(parent.properties) ? Object.keys(parent.properties) : [];
  return properties.length === 0 ? 'no properties are known' : `known: ${properties.slice(0, 40).join(', ')}`;
}

const COUNTED: Readonly<Record<string, readonly [unit: string, most: boolean]>> = {
  minLength: ['characters', false],
  maxLength: ['characters', true],
  minItems: ['items', false],
  maxItems: ['items', true],
  minProperties: ['properties', false],
  maxProperties: ['properties', true],
};

/** Keywords that only report that a branch failed; the branch's own errors say more. */
const SILENT: ReadonlySet<string> = new Set(['if', 'then', 'else', 'propertyNames', '$ref', '$dynamicRef']);

function message(error: ErrorObject): string {
  const { keyword, params, data, schema, parentSchema } = error;
  const counted = Object.hasOwn(COUNTED, keyword) ? COUNTED[keyword] : undefined;
  if (counted) return `expected at ${counted[1] ? 'most' : 'least'} ${params.limit} ${counted[0]}, got ${count(data)}`;
  switch (keyword) {
    case 'type':
      return `expected ${[params.type].flat().join(' or ')}, got ${got(data)}`;
    case 'const':
      return `expected ${choices([params.allowedValue])}, got ${got(data)}`;
    case 'enum':
      return `expected one of ${choices(params.allowedValues)}, got ${got(data)}`;
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `expected a number ${params.comparison} ${params.limit}, got ${got(data)}`;
    case 'multipleOf':
      return `expected a multiple of ${params.multipleOf}, got ${got(data)}`;
    case 'pattern':
      if (isJsonObject(parentSchema) && typeof parentSchema.format === 'string') {
        return `expected text of the format "${cutAt(parentSchema.format, SHOWN_VALUE)}", got ${got(data)}`;
      }
      return `expected text that matches ${cutAt(String(schema), SHOWN_VALUE)}, got ${got(data)}`;
    case 'uniqueItems':
      return 'expected no item twice';
    case 'contains':
      return `expected at least ${params.minContains ?? 1} fitting item`;
    case 'dependentRequired':
    case 'dependencies':
      return `required when "${params.property}" is given, missing`;
    case 'additionalItems':
    case 'items':
    case 'unevaluatedItems':
      return `expected at most ${params.limit ?? params.len} items, got ${count(data)}`;
    case 'anyOf':
      return `fits none of the allowed forms${forms(schema)}, got ${got(data)}`;
    case 'oneOf':
      return params.passingSchemas
        ? 'fits more than one of forms that exclude each other'
        : `fits none of the allowed forms${forms(schema)}, got ${got(data)}`;
    case 'not':
      return 'has a form that is ruled out';
    case 'false schema':
      return 'is not allowed';
    default:
      return `doesn't meet "${keyword}" of ${known(parentSchema)}`;
  }
}

function count(data: unknown): number {
  if (Array.isArray(data)) return data.length;
  if (typeof data === 'string') return [...data].length;
  return isJsonObject(data) ? Object.keys(data).length : 0;
}

/** The types that the branches of an anyOf ask for, where they say. */
function forms(schema: unknown): string {
  if (!Array.isArray(schema)) return '';
  const types = schema.flatMap((branch: Json) => (isJsonObject(branch) ? [branch.type ?? []].flat() : []));
  return types.length === 0 ? '' : ` (${[...new Set(types)].join(', ')})`;
}

function located(error: ErrorObject): SchemaIssue {
  const { keyword, params, instancePath, parentSchema } = error;
  if (keyword === 'required')
    return { path: `${instancePath}/${pointerSegment(params.missingProperty)}`, message: 'required, missing' };
  if (keyword === 'dependentRequired' || keyword === 'dependencies') {
    return { path: `${instancePath}/${pointerSegment(params.missingProperty)}`, message: message(error) };
  }
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const property: string = params.additionalProperty ?? params.unevaluatedProperty;
    return {
      path: `${instancePath}/${pointerSegment(property)}`,
      message: `not a known property; ${known(parentSchema)}`,
    };
  }
  return { path: instancePath, message: message(error) };
}

/** An error with what is said of it. */
interface Told {
  readonly error: ErrorObject;
  readonly issue: SchemaIssue;
}

/**
 * The errors worth telling. A failed choice (`anyOf`, `oneOf`) comes with the errors of all its branches: when exactly
 * one branch takes the value's type, its errors say what to correct; otherwise the choice itself does.
 */
function telling(errors: readonly ErrorObject[]): readonly Told[] {
  let told: Told[] = [];
  for (const error of errors) {
    if (SILENT.has(error.keyword)) continue;
    const isChoice = (error.keyword === 'anyOf' || error.keyword === 'oneOf') && !error.params.passingSchemas;
    if (!isChoice || !Array.isArray(error.schema)) {
      told.push({ error, issue: located(error) });
      continue;
    }
    // Branches come before their choice, each under its path; references lose that path, and then the choice is told.
    const within = told.filter((inner) => inner.error.schemaPath.startsWith(`${error.schemaPath}/`));
    const branches = new Map<string, Told[]>();
    for (const inner of within) {
      const branch = inner.error.schemaPath.slice(error.schemaPath.length + 1).split('/')[0] ?? '';
      branches.set(branch, [...(branches.get(branch) ?? []), inner]);
    }
    told = told.filter((inner) => !within.includes(inner));
    const isWhole = branches.size === error.schema.length;
    told.push(...(isWhole ? choiceTold(error, [...branches.values()]) : [{ error, issue: located(error) }]));
  }
  return told;
}

/** What to say of a failed choice of which each branch's errors are known. */
function choiceTold(error: ErrorObject, branches: readonly (readonly Told[])[]): readonly Told[] {
  const near = branches.filter((branch) => !branch.some((inner) => misfit(inner.error, error.instancePath)));
  if (near.length === 1 && near[0]) return near[0];
  const tags = tagged(error, branches);
  if (tags !== null) return [{ error, issue: tags }];
  if (near.length === 0) return [{ error, issue: located(error) }];
  // What every near branch lacks is lacking whichever was meant.
  const [first = [], ...others] = near;
  const shared = first.filter(({ issue }) => others.every((other) => other.some((each) => same(each.issue, issue))));
  if (shared.length > 0) return shared;
  const forms = near.slice(0, SHOWN_FORMS).map((branch) => branch.slice(0, SHOWN_FORMS).map(line).join(', '));
  const issue = { path: error.instancePath, message: `fits none of the allowed forms: either ${forms.join('; or ')}` };
  return [{ error, issue }];
}

/** Where every branch asks for another constant in one and the same member, what that member may be. */
function tagged(choice: ErrorObject, branches: readonly (readonly Told[])[]): SchemaIssue | null {
  const tags = branches.map((branch) => branch.find(({ error }) => isTag(error, choice.instancePath))?.error);
  const [first] = tags;
  if (first === undefined || tags.some((tag) => tag?.instancePath !== first.instancePath)) return null;
  const values = tags.map((tag) => tag?.params.allowedValue);
  return { path: first.instancePath, message: `expected one of ${choices(values)}, got ${got(first.data)}` };
}

function line({ issue }: Told): string {
  return issue.path === '' ? issue.message : `${issue.path}: ${issue.message}`;
}

function same(a: SchemaIssue, b: SchemaIssue): boolean {
  return a.path === b.path && a.message === b.message;
}

/** An error that rules a branch out for this value as a whole: another type, another constant. */
function misfit(error: ErrorObject, at: string): boolean {
  return error.instancePath === at ? error.keyword === 'type' : isTag(error, at);
}

/** True for a constant that a member of the value at `at` isn't. */
function isTag(error: ErrorObject, at: string): boolean {
  return error.keyword === 'const' && error.instancePath.lastIndexOf('/') === at.length;
}

/** The validator's errors in words that name each wrong field and what was expected; at most 25. */
export function schemaIssues(errors: readonly ErrorObject[]): readonly SchemaIssue[] {
  const seen = new Set<string>();
  const issues: SchemaIssue[] = [];
  for (const { issue } of telling(errors.slice(0, CONSIDERED))) {
    const key = `${issue.path} ${issue.message}`;
    if (seen.has(key)) continue;
    seen.add(key);
    issues.push(issue);
    if (issues.length === SHOWN_ISSUES) break;
  }
  return issues.length > 0 ? issues : [{ path: '', message: "doesn't fit the schema" }];
}

/** Issues as one text for a model: `/amount: expected integer, got string "12"`, one a line. */
export function issuesText(issues: readonly SchemaIssue[]): string {
  const lines = issues.map(({ path, message: text }) => `${path === '' ? 'the arguments' : path}: ${text}`);
  return `The arguments don't fit the tool's input schema.\n${lines.join('\n')}`;
}
