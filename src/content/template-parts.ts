import { BridleError, printable } from '../tools/index.ts';

/** One variable of an expression. `prefix` in characters. */
export interface Variable {
  readonly name: string;
  readonly explode: boolean;
  readonly prefix?: number;
}

export type Operator = '' | '+' | '#' | '.' | '/' | ';' | '?' | '&';

export type Part =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'expression'; readonly operator: Operator; readonly variables: readonly Variable[] };

/** RFC 6570, appendix A: what an operator puts first, between values, and around them. */
export interface OperatorRule {
  readonly first: string;
  readonly separator: string;
  readonly named: boolean;
  /** What stands after the name of an empty value. */
  readonly ifEmpty: string;
  readonly reserved: boolean;
}

const rule = (first: string, separator: string, named = false, ifEmpty = '', reserved = false): OperatorRule => ({
  first,
  separator,
  named,
  ifEmpty,
  reserved,
});

const OPERATORS: ReadonlyMap<Operator, OperatorRule> = new Map<Operator, OperatorRule>([
  ['', rule('', ',')],
  ['+', rule('', ',', false, '', true)],
  ['#', rule('#', ',', false, '', true)],
  ['.', rule('.', '.')],
  ['/', rule('/', '/')],
  [';', rule(';', ';', true)],
  ['?', rule('?', '&', true, '=')],
  ['&', rule('&', '&', true, '=')],
]);

export function ruleOf(operator: Operator): OperatorRule {
  return OPERATORS.get(operator) ?? rule('', ',');
}

/** Longest template, in UTF-16 units, and most variables in it. */
const MAX_TEMPLATE = 4096;
const MAX_VARIABLES = 64;

const VARIABLE = /^((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*)(\*|:[1-9]\d{0,3})?$/;
const UNRESERVED_ONLY = /[^A-Za-z0-9\-._~]/gu;
const WITH_RESERVED = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]/gu;
const UTF8 = new TextEncoder();

function percent(character: string): string {
  let out = '';
  for (const byte of UTF8.encode(character)) out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return out;
}

/**
 * Percent-encodes (RFC 3986) all but unreserved characters; with `reserved`, these and what is encoded already stay too.
 */
export function encode(value: string, reserved: boolean): string {
  return reserved
    ? value.replace(WITH_RESERVED, (found) => (found.length === 3 && found[0] === '%' ? found : percent(found)))
    : value.replace(UNRESERVED_ONLY, percent);
}

function invalid(template: string, why: string): BridleError {
  return new BridleError(
    'uri_template_invalid',
    `The URI template ${JSON.stringify(printable(template, { maxLength: 200 }))} can't be used: ${why}.`,
    { hint: 'Write it as RFC 6570 says, such as docs://documents/{id}.' },
  );
}

/**
 * Reads a URI template (RFC 6570, level 4).
 *
 * @throws BridleError `uri_template_invalid`
 */
export function parseTemplate(template: string): readonly Part[] {
  if (template.length > MAX_TEMPLATE) throw invalid(template, `it has more than ${MAX_TEMPLATE} characters`);
  const parts: Part[] = [];
  let count = 0;
  for (let at = 0; at < template.length; ) {
    const open = template.indexOf('{', at);
    const literal = template.slice(at, open < 0 ? template.length : open);
    if (literal.includes('}')) throw invalid(template, 'a "}" closes nothing');
    if (literal !== '') parts.push({ kind: 'literal', text: encode(literal, true) });
    if (open < 0) break;
    const close = template.indexOf('}', open);
    if (close < 0) throw invalid(template, 'a "{" is never closed');
    const part = expression(template, template.slice(open + 1, close));
    count += part.variables.length;
    if (count > MAX_VARIABLES) throw invalid(template, `it has more than ${MAX_VARIABLES} variables`);
    parts.push(part);
    at = close + 1;
  }
  return parts;
}

function expression(template: string, body: string): Extract<Part, { kind: 'expression' }> {
  const lead = body[0] ?? '';
  if ('=,!@|'.includes(lead) && lead !== '') throw invalid(template, `the operator "${lead}" is reserved`);
  const operator = OPERATORS.has(lead as Operator) ? (lead as Operator) : '';
  const variables = body
    .slice(operator.length)
    .split(',')
    .map((spec): Variable => {
      const [, name, modifier] = VARIABLE.exec(spec) ?? [];
      if (name === undefined) throw invalid(template, `"${printable(spec, { maxLength: 60 })}" is no variable`);
      const prefix = modifier?.startsWith(':') ? Number(modifier.slice(1)) : undefined;
      return { name, explode: modifier === '*', ...(prefix !== undefined && { prefix }) };
    });
  return { kind: 'expression', operator, variables };
}

/**
 * The names of a template's variables, each once, in their order.
 *
 * @throws BridleError `uri_template_invalid`
 */
export function templateVariables(template: string): readonly string[] {
  const names = new Set<string>();
  for (const part of parseTemplate(template)) {
    if (part.kind === 'expression') for (const { name } of part.variables) names.add(name);
  }
  return [...names];
}
