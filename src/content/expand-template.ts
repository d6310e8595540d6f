import { BridleError, printable } from '../tools/index.ts';
import { encode, type OperatorRule, parseTemplate, ruleOf, type Variable } from './template-parts.ts';

/** A variable's value (RFC 6570, 2.3): text, a list, or names with values. */
export type TemplateValue = string | readonly string[] | Readonly<Record<string, string>>;
export type TemplateValues = Readonly<Record<string, TemplateValue | undefined>>;

/** Longest URI that an expansion may give, in UTF-16 units. */
const MAX_URI = 64 * 1024;

/**
 * Fills in a URI template (RFC 6570, levels 1 to 4). A variable without a value, and an empty list, is left out.
 *
 * @param template e.g. `docs://documents/{id}{?page}`
 * @param values by variable name
 * @returns the URI, with all that can't stand in one percent-encoded
 * @throws BridleError `uri_template_invalid` when the template is none, `uri_template_value` when a value doesn't fit it
 */
export function expandTemplate(template: string, values: TemplateValues): string {
  let uri = '';
  for (const part of parseTemplate(template)) {
    uri += part.kind === 'literal' ? part.text : expanded(ruleOf(part.operator), part.variables, values);
    if (uri.length > MAX_URI) {
      throw new BridleError('uri_template_value', `The values make a URI of more than ${MAX_URI} characters.`, {
        hint: 'Give shorter values.',
      });
    }
  }
  return uri;
}

function expanded(rule: OperatorRule, variables: readonly Variable[], values: TemplateValues): string {
  const pieces = variables.flatMap((variable) => {
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined;
    return value === undefined || value === null ? [] : piecesOf(rule, variable, value);
  });
  return pieces.length === 0 ? '' : rule.first + pieces.join(rule.separator);
}

function piecesOf(rule: OperatorRule, variable: Variable, value: TemplateValue): readonly string[] {
  const { name, explode, prefix } = variable;
  const named = (text: string) => (rule.named ? name + (text === '' ? rule.ifEmpty : `=${text}`) : text);
  if (typeof value === 'string') {
    const text = prefix === undefined ? value : [...value].slice(0, prefix).join('');
    return [named(encode(text, rule.reserved))];
  }
  if (prefix !== undefined) {
    const shown = printable(name, { maxLength: 60 });
    throw new BridleError('uri_template_value', `"${shown}" takes the beginning of a text, and its value is a list.`, {
      hint: 'Give it one text.',
    });
  }
  if (isList(value)) {
    const items = value.map((item) => encode(item, rule.reserved));
    if (items.length === 0) return [];
    return explode ? items.map(named) : [named(items.join(','))];
  }
  const pairs = Object.entries(value).map(([key, item]) => [encode(key, rule.reserved), encode(item, rule.reserved)]);
  if (pairs.length === 0) return [];
  if (!explode) return [named(pairs.flat().join(','))];
  return pairs.map(([key = '', item]) => (rule.named && item === '' ? key + rule.ifEmpty : `${key}=${item}`));
}

function isList(value: readonly string[] | Readonly<Record<string, string>>): value is readonly string[] {
  return Array.isArray(value);
}
