import type { JsonObject } from '../../contracts/index.ts';
import { splitWords, stem } from '../../search/index.ts';
import { type CallAnswer, isObject, type PastCall } from './conversation.ts';
import { capital, documentText, inWords, isEmptyDocument, type Line, linesOf } from './format.ts';
import type { Goal } from './goals.ts';
import type { ToolCard } from './tool-card.ts';

/** A goal with the call that answered it, and with what was said of how to show the answer. */
export interface Finished {
  readonly goal: Goal;
  readonly card: ToolCard;
  readonly call: PastCall;
  readonly showing: readonly Goal[];
}

const MAX_TEXT = 4000;

/** What came of it, in plain words: only what the results say. */
export function reportOn(finished: readonly Finished[]): string {
  return finished.map(reportOne).join('\n\n');
}

function reportOne(done: Finished): string {
  const { answer } = done.call;
  if (answer.isError) return failureText(answer, done);
  const wording = [done.goal, ...done.showing].map(({ text }) => text).join('\n');
  const [document] = answer.documents;
  const parts: string[] = [];
  if (isObject(document) && answer.documents.length === 1 && isRecord(document))
    parts.push(recordText(document, done, wording));
  else if (answer.documents.some((one) => !isEmptyDocument(one))) parts.push(...answer.documents.map(documentText));
  const text = answer.texts.filter((one) => one.trim() !== '').join('\n');
  if (text !== '') parts.push(excerpt(text, wording));
  if (answer.others.length > 0)
    parts.push(`The answer also holds ${answer.others.join(', ')}, which I can’t show as text.`);
  if (parts.length > 0) return parts.join('\n');
  return done.card.effect === 'read'
    ? 'Nothing was found: the answer is empty.'
    : 'Done. The tool had nothing to report.';
}

/** What went wrong, as it was told, and whether anything may have happened all the same. */
function failureText(answer: CallAnswer, { card, goal }: Finished): string {
  const [document] = answer.documents;
  const wire = isObject(document) ? document : {};
  const told = [wire.description, wire.message, wire.error, wire.INVALID_JSON].find((text) => typeof text === 'string');
  const text =
    typeof told === 'string' ? told : answer.texts.join('\n') || (document ? inWords(document) : 'no reason was given');
  const first =
    wire.errorCategory === 'permission'
      ? `I was not allowed to do this (“${goal.text}”)`
      : `I could not do this (“${goal.text}”)`;
  const parts = [`${first}: ${text.trim()}`];
  if (wire.outcome === 'unknown' && card.effect !== 'read') {
    parts.push('It is not known whether it took effect: check before you ask for it again.');
  }
  if (Array.isArray(wire.alternatives) && wire.alternatives.length > 0) {
    parts.push(`What you could do instead: ${wire.alternatives.map(inWords).join('; ')}`);
  }
  return parts.join('\n');
}

/** An object that is one thing with plain fields. */
function isRecord(document: JsonObject): boolean {
  const values = Object.values(document);
  return values.length > 0 && values.every((value) => !Array.isArray(value) || value.every((item) => !isObject(item)));
}

function recordText(document: JsonObject, done: Finished, wording: string): string {
  const given = new Set(Object.values(done.call.input).map(String));
  const lines = linesOf(document);
  if (done.card.effect !== 'read') return deedText(lines, done, given);
  const asked = new Set(splitWords(wording).map(stem));
  const yes =
    done.goal.mood === 'question' &&
    lines.find(({ text, key }) => /stat(?:e|us)$/i.test(key) && asked.has(stem(text.toLowerCase())));
  const subject = lines.find(({ text, isMoney }) => !isMoney && given.has(text));
  const others = lines.filter((line) => line !== subject);
  const wanted = others.filter((line) => isAskedFor(line, asked, wording));
  const told = [...wanted, ...others.filter((line) => !wanted.includes(line))].map(
    ({ label, text }) => `${label}: ${text}`,
  );
  const who = subject
    ? `${capital(subject.label.replace(/ (?:id|key|number|code)$/, ''))} ${subject.text}`
    : 'The answer';
  return `${yes ? 'Yes. ' : ''}${who}: ${told.join('; ') || 'no more is known'}.`;
}

function isAskedFor({ label, key }: Line, asked: ReadonlySet<string>, wording: string): boolean {
  if (/\bwhere\b|\bstill\b|\bhow is\b|\bis\b.*\?/i.test(wording) && /status|state|location/i.test(key)) return true;
  return splitWords(label).some((word) => asked.has(stem(word)));
}

/** After a deed: what was done, with the amount and the reference first. */
function deedText(lines: readonly Line[], { card, goal }: Finished, given: ReadonlySet<string>): string {
  const verb = pastTense(goal.head ?? card.verbs[0] ?? 'do');
  const sums = lines.filter(({ isMoney }) => isMoney);
  const sum = sums[0];
  const target = lines.find(({ text, isMoney }) => !isMoney && given.has(text));
  const reference = lines.find(
    ({ key, text }) => /(?:^|_|[a-z])(?:id|reference|ref|number|code)$/i.test(key) && !given.has(text),
  );
  // "success: yes" and "deleted: yes" say no more than the verb does.
  const says = (line: Line) =>
    ![sum, target, reference].includes(line) && !(line.text === 'yes' && /^(?:ok|success|done)$|ed$/i.test(line.key));
  const rest = lines.filter(says);
  const on = target ? ` (${target.label.replace(/ id$/, '')} ${target.text})` : '';
  return [
    `${capital(verb)}${sum ? ` ${sum.text}` : ''}${on}.`,
    ...(reference ? [`Reference: ${reference.text}.`] : []),
    ...(rest.length > 0 ? [`${capital(rest.map(({ label, text }) => `${label}: ${text}`).join('; '))}.`] : []),
  ].join(' ');
}

const IRREGULAR: ReadonlyMap<string, string> = new Map(
  (
    'make made|send sent|write wrote|buy bought|pay paid|set set|put put|do did|run ran|give gave|begin began|build built|' +
    'book booked|get got|drop dropped|submit submitted|stop stopped|find found|sell sold|hold held|draw drew|cut cut'
  )
    .split('|')
    .map((pair) => pair.split(' ') as [string, string]),
);

export function pastTense(verb: string): string {
  const irregular = IRREGULAR.get(verb);
  if (irregular) return irregular;
  if (verb.endsWith('e')) return `${verb}d`;
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ied` : `${verb}ed`;
}

/** The lines of a text that were asked for; all of it otherwise, as long as it can be shown. */
export function excerpt(text: string, wording: string): string {
  const lines = text.replace(/\r\n?/g, '\n').replace(/\n$/, '').split('\n');
  const [, which, digits] = /\b(first|last|top)\s+(?:(\d+)\s+)?lines?\b/i.exec(wording) ?? [];
  if (which) {
    const count = digits ? Number(digits) : 1;
    const picked = /last/i.test(which) ? lines.slice(-count) : lines.slice(0, count);
    const name =
      count === 1 ? `The ${which.toLowerCase()} line is` : `The ${which.toLowerCase()} ${picked.length} lines are`;
    return count === 1 ? `${name}: “${picked[0] ?? ''}”` : `${name}:\n${picked.map((line) => `> ${line}`).join('\n')}`;
  }
  if (/\bhow many lines\b|\b(?:count|number of)\b.*\blines\b/i.test(wording)) return `It has ${lines.length} lines.`;
  const cut =
    text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}\n… (${text.length - MAX_TEXT} more characters)` : text;
  const said = cut.trimEnd();
  return /\bsummar(?:y|i[sz]e)\b/i.test(wording)
    ? `I can’t summarize, being no language model; this is the text:\n${said}`
    : said;
}
