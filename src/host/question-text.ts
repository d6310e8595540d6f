import type { AskQuestion, Json } from '../contracts/index.ts';
import { visibleText } from './visible-text.ts';

/**
 * Everything that a person needs to answer a question, as plain text: who asks, for which tool, with which arguments
 * (whole), what the call would do, and which rule asks. Unseen characters stand as their JSON escapes.
 */
export function questionText(question: AskQuestion): string {
  const { who, tool, decision } = question;
  const { server } = tool.ref;
  const from = server ? `of server ${inline(server.key)} (${server.scope})` : 'of this program';
  const agent = who.user === undefined ? inline(who.agent) : `${inline(who.agent)} for ${inline(who.user)}`;
  const headline = `${agent} asks to run ${inline(tool.ref.tool)} ${from}`;
  const lines = [
    headline,
    ...titled('arguments', block(question.args)),
    ...behindLines(question),
    ...factLines(question),
  ];
  for (const { text, source } of decision.reasons) {
    const place = source ? ` (${source.file}${source.line === undefined ? '' : `:${source.line}`})` : '';
    lines.push(`  why: ${inline(text + place)}`);
  }
  // After a screenful the headline is out of sight, and it says what is agreed to.
  if (screenRows(lines) > SCREEN_ROWS) lines.push(`${headline}, with everything that stands above`);
  return `${lines.join('\n')}\n`;
}

/** A terminal as small as they commonly are. */
const SCREEN_ROWS = 20;
const SCREEN_COLUMNS = 80;

function screenRows(lines: readonly string[]): number {
  return lines.reduce((rows, line) => rows + Math.ceil(line.length / SCREEN_COLUMNS), 0);
}

/** A view shows what it makes of the call, as that is what runs. */
function behindLines({ tool, behind }: AskQuestion): readonly string[] {
  if (!tool.narrows || behind === undefined) return [];
  return titled(`which calls ${inline(tool.narrows.of.ref.tool)} with`, block(behind));
}

function factLines({ facts, factsMissing }: AskQuestion): readonly string[] {
  if (facts !== undefined) return titled('what it would do', block(facts));
  if (factsMissing !== undefined) return [`  what it would do is not known: ${inline(factsMissing)}`];
  return [];
}

function titled(title: string, lines: readonly string[]): readonly string[] {
  const [first = '', ...rest] = lines;
  return [`  ${title}: ${first}`, ...rest.map((line) => `  ${line}`)];
}

function block(value: Json): readonly string[] {
  return JSON.stringify(value, null, 2).split('\n').map(inline);
}

function inline(text: string): string {
  return visibleText(text);
}
