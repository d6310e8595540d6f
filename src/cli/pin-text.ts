import { visibleText } from '../host/index.ts';
import { definitionDiff, type PinRecord } from '../policy/index.ts';

/** One pin on a line. */
export function pinLine(record: PinRecord): string {
  return `${record.id}  ${state(record).padEnd(10)}  ${visibleText(record.name)}${record.tool === null ? ' (instructions)' : ''}: ${since(record)}`;
}

/** Everything that somebody needs to say whether it is all right. Unseen characters stand as their escapes. */
export function pinText(record: PinRecord): string {
  const { server, tool, pinned, seen, like } = record;
  const what = tool === null ? 'its instructions' : visibleText(tool);
  const lines = [
    pinLine(record),
    `  ${server === null ? 'of this process' : `server ${visibleText(server.key)}`}: ${what}`,
    ...(like === undefined ? [] : [`  its name can be taken for ${visibleText(like)}`]),
  ];
  if (pinned && seen) lines.push(...definitionDiff(pinned.definition, seen.definition).map((line) => `  ${line}`));
  if (seen) lines.push(`  seen last: ${day(seen.at)}, as ${seen.fingerprint.slice(0, 12)}`);
  const whole = JSON.stringify((seen ?? pinned)?.definition, null, 2).split('\n');
  lines.push(...whole.map((line) => `    ${visibleText(line)}`));
  return `${lines.join('\n')}\n`;
}

function state({ pinned, seen }: PinRecord): string {
  if (pinned === null) return 'look-alike';
  return seen === undefined ? 'pinned' : 'changed';
}

function since({ pinned }: PinRecord): string {
  if (pinned === null) return 'never accepted';
  return pinned.by === undefined
    ? `as first seen ${day(pinned.at)}`
    : `accepted ${day(pinned.at)} by ${visibleText(pinned.by)}`;
}

function day(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}
