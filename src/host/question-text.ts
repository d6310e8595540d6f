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
  const args = block(question.args);
  const lines = [headline, ...titled('arguments', args), ...factLines(question)];
  for (const { text, source } of decision.reasons) {
    const place = source ? ` (${source.file}${source.line === undefined ? '' : `:${source.line}`})` : '';
    lines.push(`  why: ${inline(text + place)}`);
  }
  // After a screenful the headline is out of sight, and it says what is agreed to.
  if (args.length > LONG_LINES) lines.push(`${headline}, with the ${args.length} lines of arguments above`);
  return `${lines.join('\n')}\n`;
}

const LONG_LINES = 30;

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
