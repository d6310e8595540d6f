import type { InputOrigin, Json, JsonObject } from '../contracts/index.ts';
import { compileSchema, printable } from '../tools/index.ts';
import {
  asksForSecret,
  type FieldValue,
  type Form,
  type FormField,
  fieldHint,
  readAnswer,
  readForm,
  shownValue,
} from './elicitation-form.ts';
import { readVisitUrl } from './elicitation-url.ts';
import type { Prompter } from './prompter.ts';
import { visibleText } from './visible-text.ts';

/** An MCP `ElicitResult`. */
const DECLINE: JsonObject = { action: 'decline' };
const CANCEL: JsonObject = { action: 'cancel' };

const LONGEST_MESSAGE = 2_000;
/** MCP, Elicitation: a form must not be used to ask for what is secret. */
const SECRET_WARNING =
  'careful: this seems to ask for a password, a key or the like. No server may ask for one in a form.\n';
/** How often something that can't be read is asked for again before it counts as no answer. */
const TRIES = 10;

/** Puts what a server asks for to the person at the terminal (MCP `elicitation/create`). */
export async function promptElicitation(
  params: Json | undefined,
  from: InputOrigin,
  prompter: Prompter,
): Promise<JsonObject> {
  const asked = isObject(params) ? params : {};
  const message = typeof asked.message === 'string' ? asked.message : '';
  const server = from.server === null ? 'This program' : `Server ${visibleText(from.server.key)}`;
  prompter.write(
    `\n${server} asks you something, in its ${from.part ?? 'tool'} ${visibleText(from.tool)}:\n${indented(message)}`,
  );
  if (asked.mode === 'url') return promptUrl(asked, from, prompter);
  if (asked.mode !== undefined && asked.mode !== 'form') {
    prompter.write(`It asks in a way that is not known here (${visibleText(JSON.stringify(asked.mode))}): declined.\n`);
    return DECLINE;
  }
  const form = readForm(asked.requestedSchema);
  if ('problem' in form) {
    prompter.write(`It can't be answered here: ${visibleText(form.problem)}. Declined.\n`);
    return DECLINE;
  }
  for (const key of form.leftOut) prompter.write(`  (left out: ${visibleText(key)}, which no form has a field for)\n`);
  return fillIn(form, asked.requestedSchema ?? {}, from.signal, prompter);
}

async function promptUrl(asked: JsonObject, { signal }: InputOrigin, prompter: Prompter): Promise<JsonObject> {
  const visit = readVisitUrl(asked.url);
  if ('problem' in visit) {
    prompter.write(`It wants you to visit an address, but ${visibleText(visit.problem)}: declined.\n`);
    return DECLINE;
  }
  const warnings = visit.warnings.map((warning) => `  careful: ${visibleText(warning)}\n`).join('');
  prompter.write(
    `It wants you to visit a page of ${visibleText(visit.host)}. Nothing is opened from here: copy the address.\n` +
      `  ${visibleText(visit.url)}\n${warnings}`,
  );
  for (let tries = 0; tries < TRIES; tries += 1) {
    const line = await prompter.ask('Go there? y: yes, I do. n: no. c: cancel. [y/n/c] ', signal);
    if (line === undefined) return CANCEL;
    const word = line.trim().toLowerCase();
    if (/^y(es)?$/.test(word)) return { action: 'accept' };
    if (/^(no?|\/decline)$/.test(word)) return DECLINE;
    if (/^(c(ancel)?|\/cancel)$/.test(word)) return CANCEL;
  }
  return CANCEL;
}

/** A field's end: a value, nothing, or a way out of it. */
type Filled = { readonly value: FieldValue } | 'skip' | 'back' | 'decline' | 'cancel';

async function fillIn(form: Form, schema: Json, signal: AbortSignal, prompter: Prompter): Promise<JsonObject> {
  const { fields } = form;
  const values = new Map<string, FieldValue>();
  prompter.write(
    'What you enter goes to the server. Never enter a password or a key here.\n' +
      'Enter alone takes what stands in [ ]. /skip leaves an optional field out,\n' +
      '/back goes back, /decline says no, /cancel ends the question.\n',
  );
  let at = 0;
  for (;;) {
    const field = fields[at];
    if (field) {
      const filled = await askField(field, values.get(field.key), signal, prompter);
      if (filled === 'decline') return DECLINE;
      if (filled === 'cancel') return CANCEL;
      if (filled === 'back') at = Math.max(0, at - 1);
      else {
        if (filled === 'skip') values.delete(field.key);
        else values.set(field.key, filled.value);
        at += 1;
      }
      continue;
    }
    const content = contentOf(fields, values);
    const issues = await issuesOf(schema, content);
    const next = await review(fields, values, { signal, prompter, issues });
    if (next === 'send') return { action: 'accept', content };
    if (next === 'decline') return DECLINE;
    if (next === 'cancel') return CANCEL;
    const filled = await askField(next, values.get(next.key), signal, prompter);
    if (filled === 'decline') return DECLINE;
    if (filled === 'cancel') return CANCEL;
    if (filled === 'skip') values.delete(next.key);
    else if (filled !== 'back') values.set(next.key, filled.value);
  }
}

function contentOf(fields: readonly FormField[], values: ReadonlyMap<string, FieldValue>): JsonObject {
  return Object.fromEntries(
    fields.flatMap(({ key }) => {
      const value = values.get(key);
      return value === undefined ? [] : [[key, value] as const];
    }),
  );
}

/** What the form's own checks don't know, such as patterns, is checked by the schema itself. */
async function issuesOf(schema: Json, content: JsonObject): Promise<readonly string[]> {
  try {
    const { check } = await compileSchema(schema, { origin: 'outside' });
    return check(content).map(({ path, message }) => `${path === '' ? 'The answer' : path}: ${message}`);
  } catch {
    // A schema that can't be compiled is the server's to check against.
    return [];
  }
}

async function askField(
  field: FormField,
  before: FieldValue | undefined,
  signal: AbortSignal,
  prompter: Prompter,
): Promise<Filled> {
  const standing = before ?? field.default;
  prompter.write(`\n${visibleText(field.title)} (${visibleText(fieldHint(field))})\n`);
  if (field.description !== undefined) prompter.write(indented(field.description));
  if (asksForSecret(field)) prompter.write(SECRET_WARNING);
  const width = String(field.options.length).length;
  for (const [at, { label, value }] of field.options.entries()) {
    const also = label === value ? '' : ` (${visibleText(value)})`;
    prompter.write(`  ${String(at + 1).padStart(width)}. ${visibleText(label)}${also}\n`);
  }
  const shown = standing === undefined ? '' : `[${visibleText(shownValue(field, standing))}] `;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const line = (await prompter.ask(`${shown}: `, signal))?.trim();
    if (line === undefined || line === '/cancel') return 'cancel';
    if (line === '/decline') return 'decline';
    if (line === '/back') return 'back';
    if (line === '/skip' || line === '') {
      if (line === '' && standing !== undefined) return { value: standing };
      if (!field.required) return 'skip';
      prompter.write('  It is needed. /decline says no to the whole question.\n');
      continue;
    }
    const read = readAnswer(field, line.startsWith('//') ? line.slice(1) : line);
    if ('value' in read) return read;
    prompter.write(`  ${visibleText(read.problem)}\n`);
  }
  return 'cancel';
}

async function review(
  fields: readonly FormField[],
  values: ReadonlyMap<string, FieldValue>,
  {
    signal,
    prompter,
    issues,
  }: { readonly signal: AbortSignal; readonly prompter: Prompter; readonly issues: readonly string[] },
): Promise<'send' | 'decline' | 'cancel' | FormField> {
  prompter.write(fields.length > 0 ? '\nYour answer:\n' : '');
  for (const [at, field] of fields.entries()) {
    const value = values.get(field.key);
    const shown = value === undefined ? '(left out)' : visibleText(shownValue(field, value));
    prompter.write(`  ${at + 1}. ${visibleText(field.title)}: ${shown}\n`);
  }
  for (const issue of issues) prompter.write(`  not yet right: ${visibleText(issue)}\n`);
  const change = fields.length > 0 ? ' A number: change that.' : '';
  for (let tries = 0; tries < TRIES; tries += 1) {
    const choice = issues.length > 0 ? '' : 'y: send it. ';
    const line = (await prompter.ask(`${choice}n: decline. c: cancel.${change} `, signal))?.trim().toLowerCase();
    if (line === undefined || /^(c(ancel)?|\/cancel)$/.test(line)) return 'cancel';
    if (/^y(es)?$/.test(line) && issues.length === 0) return 'send';
    if (/^(no?|\/decline)$/.test(line)) return 'decline';
    const field = /^\d+$/.test(line) ? fields[Number(line) - 1] : undefined;
    if (field) return field;
  }
  return 'cancel';
}

/** Foreign words, set off from ours by their margin. */
function indented(text: string): string {
  const lines = printable(text, { newlines: true, maxLength: LONGEST_MESSAGE }).split('\n');
  return `${lines.map((line) => `  ${line}`.trimEnd()).join('\n')}\n`;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
