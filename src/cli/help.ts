import { type CommandSpec, HELP_OPTION } from './command.ts';

/** Of a terminal that nobody has made wider. */
export const HELP_WIDTH = 80;

/** The help of one command, from its row in the table. */
export function helpOf(spec: CommandSpec): string {
  const rows = Object.entries({ ...spec.options, help: HELP_OPTION }).map(
    ([name, { short, value, help }]) =>
      [`${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`, help] as const,
  );
  const verbs = Object.entries(spec.verbs ?? {}).map(([verb, { summary }]) => [verb, summary] as const);
  return [
    ...fold(`bridle ${spec.name}: ${spec.summary}`, HELP_WIDTH),
    '',
    `Usage: bridle ${spec.name}${spec.usage ? ` ${spec.usage}` : ''} [options]`,
    ...(spec.details ? ['', ...spec.details.split('\n\n').flatMap(paragraph)] : []),
    ...(verbs.length > 0 ? ['', 'Verbs:', ...columns(verbs, HELP_WIDTH)] : []),
    '',
    'Options:',
    ...columns(rows, HELP_WIDTH),
    '',
    'Examples:',
    ...columns(spec.examples, HELP_WIDTH),
    '',
  ].join('\n');
}

function paragraph(text: string): string[] {
  return fold(text.replaceAll('\n', ' '), HELP_WIDTH);
}

/**
 * Two columns, the left one as wide as its widest cell up to 40; what is wider gets a line of its own.
 *
 * @param width where the right column is folded; without, each of its cells is one line
 */
export function columns(rows: readonly (readonly [string, string])[], width = Number.POSITIVE_INFINITY): string[] {
  const first = Math.min(40, Math.max(...rows.map(([left]) => left.length)));
  return rows.flatMap(([left, right]) => {
    const [beside = '', ...below] = fold(right, Math.max(20, width - first - 4));
    const rest = below.map((line) => `  ${''.padEnd(first)}  ${line}`);
    return left.length <= first
      ? [`  ${left.padEnd(first)}  ${beside}`.trimEnd(), ...rest]
      : [`  ${left}`, `  ${''.padEnd(first)}  ${beside}`.trimEnd(), ...rest];
  });
}

/** A text in lines of at most `width` characters, broken at spaces; a word that is longer has a line of its own. */
export function fold(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.length - 1;
    const line = lines[last] ?? '';
    if (line === '') lines[last] = word;
    else if (line.length + 1 + word.length <= width) lines[last] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
