import { type CommandSpec, HELP_OPTION } from './command.ts';

/** The help of one command, from its row in the table. */
export function helpOf(spec: CommandSpec): string {
  const rows = Object.entries({ ...spec.options, help: HELP_OPTION }).map(
    ([name, option]) => [`--${name}${option.value ? ` ${option.value}` : ''}`, option.help] as const,
  );
  return [
    `bridle ${spec.name}: ${spec.summary}`,
    '',
    `Usage: bridle ${spec.name}${spec.usage ? ` ${spec.usage}` : ''} [options]`,
    ...(spec.details ? ['', spec.details] : []),
    '',
    'Options:',
    ...columns(rows),
    '',
    'Examples:',
    ...columns(spec.examples),
    '',
  ].join('\n');
}

/** Two columns, the left one as wide as its widest cell up to 40; what is wider gets a line of its own. */
export function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(40, Math.max(...rows.map(([left]) => left.length)));
  return rows.flatMap(([left, right]) =>
    left.length <= width
      ? [`  ${left.padEnd(width)}  ${right}`.trimEnd()]
      : [`  ${left}`, `  ${''.padEnd(width)}  ${right}`.trimEnd()],
  );
}
