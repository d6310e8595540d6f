import { encode, type Part, parseTemplate, ruleOf, type Variable } from './template-parts.ts';

/** Values by variable name, without a prototype; a list for a variable that the template repeats (`*`). */
export type MatchedValues = Readonly<Record<string, string | readonly string[]>>;

/** Longest URI that is matched, in UTF-16 units. */
const MAX_URI = 4096;

type Expression = Extract<Part, { kind: 'expression' }>;

/**
 * One step of reading a URI. `next` and `other` are places in the program; `other` is taken when `next` leads nowhere.
 */
type Step =
  | { readonly do: 'text'; readonly text: string; readonly next: number }
  | { readonly do: 'first' | 'more'; readonly name: string; readonly reserved: boolean; readonly next: number }
  | { readonly do: 'choose'; readonly next: number; readonly other: number }
  | { readonly do: 'end' };

/**
 * The values with which a template would give this URI: the reverse of `expandTemplate`. Time grows with the length of
 * the URI times that of the template, whatever they hold.
 *
 * Earlier variables take as little as they can, and at least one character. Query variables (`{?a,b}`, `{&c}`) come in
 * any order, at the end or before a fragment. Of a prefix (`{id:3}`) only the beginning is known, so it has no value.
 *
 * @returns null when the URI isn't of this template, or longer than 4,096 characters
 * @throws BridleError `uri_template_invalid`
 */
export function matchTemplate(template: string, uri: string): MatchedValues | null {
  const parts = parseTemplate(template);
  const text = encode(uri, true);
  if (text.length > MAX_URI) return null;
  const found = new Found();
  const query = parts.findIndex(isQuery);
  if (query < 0) return readAll(parts, text, found) ? found.values() : null;
  const after = parts.findIndex((part, at) => at > query && !isQuery(part));
  const rest = after < 0 ? [] : parts.slice(after);
  if (!startsFragment(rest[0]) || rest.some(isQuery)) return null;
  const hash = text.indexOf('#');
  const [main, fragment] = rest.length === 0 || hash < 0 ? [text, ''] : [text.slice(0, hash), text.slice(hash)];
  const expressions = parts.slice(query, after < 0 ? undefined : after).filter(isQuery);
  const path = takeQuery(expressions, main, found);
  if (!readAll(parts.slice(0, query), path, found) || !readAll(rest, fragment, found)) return null;
  return found.values();
}

function isQuery(part: Part): part is Expression {
  return part.kind === 'expression' && (part.operator === '?' || part.operator === '&');
}

function startsFragment(part: Part | undefined): boolean {
  if (part === undefined) return true;
  return part.kind === 'literal' ? part.text.startsWith('#') : part.operator === '#';
}

/** What has been read, and whether it goes together. */
class Found {
  #values = new Map<string, string | string[]>();
  #contradicts = false;

  add(name: string, value: string): void {
    const before = this.#values.get(name);
    if (before !== undefined && before !== value) this.#contradicts = true;
    this.#values.set(name, value);
  }

  append(name: string, value: string): void {
    const before = this.#values.get(name);
    if (Array.isArray(before)) before.push(value);
    else this.#values.set(name, [value]);
  }

  values(): MatchedValues | null {
    if (this.#contradicts) return null;
    const values: Record<string, string | string[]> = Object.create(null);
    for (const [name, value] of this.#values) values[name] = value;
    return values;
  }
}

/** Takes the pairs of the query off the end. Returns what stands before them. */
function takeQuery(expressions: readonly Expression[], text: string, found: Found): string {
  const opening = expressions[0]?.operator ?? '?';
  const variables = new Map(expressions.flatMap((part) => part.variables.map((v) => [encode(v.name, true), v])));
  const pairs: [Variable, string][] = [];
  const taken = new Set<Variable>();
  for (let end = text.length; ; ) {
    const at = Math.max(text.lastIndexOf('&', end - 1), text.lastIndexOf('?', end - 1));
    const pair = at < 0 ? '' : text.slice(at + 1, end);
    const equals = pair.indexOf('=');
    const variable = variables.get(equals < 0 ? pair : pair.slice(0, equals));
    const again = variable !== undefined && taken.has(variable) && !variable.explode;
    if (at < 0 || variable === undefined || again || (text[at] === '?' && opening === '&')) {
      // A query that begins with something else isn't this template's: what was read stays where it is.
      if (opening === '?') return text;
      keep(pairs, found);
      return text.slice(0, end);
    }
    taken.add(variable);
    pairs.unshift([variable, decoded(equals < 0 ? '' : pair.slice(equals + 1), false)]);
    if (text[at] === '?') {
      keep(pairs, found);
      return text.slice(0, at);
    }
    end = at;
  }
}

function keep(pairs: readonly [Variable, string][], found: Found): void {
  for (const [{ name, explode, prefix }, value] of pairs) {
    if (explode) found.append(name, value);
    else if (prefix === undefined) found.add(name, value);
  }
}

interface Program {
  readonly steps: readonly Step[];
  readonly start: number;
  /** Names of the variables that a template repeats. */
  readonly lists: ReadonlySet<string>;
}

/** The steps that read the parts; made from the end, since each names the one that follows. */
function programOf(parts: readonly Part[]): Program {
  const steps: Step[] = [{ do: 'end' }];
  const lists = new Set<string>();
  const put = (step: Step): number => steps.push(step) - 1;
  const value = (variable: Variable, reserved: boolean, next: number): number => {
    const name = variable.prefix === undefined ? variable.name : '';
    if (variable.explode) lists.add(name);
    const more = put({ do: 'more', name, reserved, next });
    return put({ do: 'first', name, reserved, next: more });
  };
  const text = (chars: string, next: number): number => (chars === '' ? next : put({ do: 'text', text: chars, next }));

  const expression = ({ operator, variables }: Expression, after: number): number => {
    const rule = ruleOf(operator);
    let next = after;
    for (const [index, variable] of [...variables.entries()].reverse()) {
      const lead = index === 0 ? rule.first : rule.separator;
      const one = (between: string, then: number): number => {
        if (!rule.named) return text(between, value(variable, rule.reserved, then));
        const filled = text('=', value(variable, rule.reserved, then));
        return text(between + encode(variable.name, true), put({ do: 'choose', next: filled, other: then }));
      };
      let then = next;
      if (variable.explode) {
        // A loop: after each value comes another one, or what follows.
        const loop = put({ do: 'choose', next: 0, other: next });
        steps[loop] = { do: 'choose', next: one(rule.separator, loop), other: next };
        then = loop;
      }
      const taken = one(lead, then);
      // What has no mark of its own must be there; the rest may be left out.
      next = lead === '' ? taken : put({ do: 'choose', next: taken, other: next });
    }
    return next;
  };

  let start = 0;
  for (const part of [...parts].reverse())
    start = part.kind === 'literal' ? text(part.text, start) : expression(part, start);
  return { steps, start, lists };
}

const STOPS: ReadonlySet<string> = new Set(['/', '?', '#', ',']);

function fits(char: string | undefined, reserved: boolean): boolean {
  return char !== undefined && (reserved || !STOPS.has(char));
}

/** Reads all of the text by the parts: depth first, and no step is tried twice at one place. */
function readAll(parts: readonly Part[], text: string, found: Found): boolean {
  const program = programOf(parts);
  const { steps } = program;
  const width = text.length + 1;
  const cameFrom = new Int32Array(steps.length * width).fill(-1);
  // Pairs: where to go, and from where.
  const stack = [program.start * width, program.start * width];
  const go = (from: number, step: number, at: number) => stack.push(step * width + at, from);
  while (stack.length > 0) {
    const from = stack.pop() ?? 0;
    const here = stack.pop() ?? 0;
    if (cameFrom[here] !== -1) continue;
    cameFrom[here] = from;
    const at = here % width;
    const step = steps[(here - at) / width];
    if (step === undefined) continue;
    switch (step.do) {
      case 'end':
        if (at < text.length) break;
        collect(program, { cameFrom, width, text }, here, found);
        return true;
      case 'choose':
        // What is pushed last is tried first.
        go(here, step.other, at);
        go(here, step.next, at);
        break;
      case 'text':
        if (text.startsWith(step.text, at)) go(here, step.next, at + step.text.length);
        break;
      case 'first':
        if (fits(text[at], step.reserved)) go(here, step.next, at + 1);
        break;
      case 'more':
        if (fits(text[at], step.reserved)) go(here, (here - at) / width, at + 1);
        go(here, step.next, at);
        break;
      default:
        return step satisfies never;
    }
  }
  return false;
}

/** Walks the way back and notes what each variable took. */
function collect(
  { steps, lists }: Program,
  way: { readonly cameFrom: Int32Array; readonly width: number; readonly text: string },
  end: number,
  found: Found,
): void {
  const taken: [string, string][] = [];
  let until = 0;
  let later: Step | undefined;
  for (let here = end, done = false; !done; ) {
    const at = here % way.width;
    const step = steps[(here - at) / way.width];
    if (step?.do === 'more' && later !== step) until = at;
    if (step?.do === 'first') taken.push([step.name, decoded(way.text.slice(at, until), step.reserved)]);
    later = step;
    const from = way.cameFrom[here] ?? here;
    done = from === here;
    here = from;
  }
  for (const [name, value] of taken.reverse()) {
    if (name === '') continue;
    if (lists.has(name)) found.append(name, value);
    else found.add(name, value);
  }
}

/** As it was before it was encoded, where that can be known. */
function decoded(value: string, reserved: boolean): string {
  let plain: string;
  try {
    plain = decodeURIComponent(value);
  } catch {
    return value;
  }
  return !reserved || encode(plain, true) === value ? plain : value;
}
