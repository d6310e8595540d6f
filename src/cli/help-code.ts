import { readFileSync } from 'node:fs';
import { fold, HELP_WIDTH } from './help.ts';

/** What the catalogue says of one code. */
interface CodeHelp {
  readonly code: string;
  /** The part of the catalogue in which it stands. */
  readonly part: string;
  readonly meaning: string;
  readonly remedy: string;
}

/** The catalogue of errors, as it comes with the package. */
const CATALOGUE = new URL('../../docs/errors.md', import.meta.url);

const ROW = /^\| (`[^|]*`) \| ([^|]+) \| ([^|]+) \|$/;

/**
 * The help of an error's or a reason's code, read from the catalogue.
 *
 * @returns undefined when it has no such code, or isn't there
 */
export function helpOfCode(code: string): string | undefined {
  const found = entryOf(code);
  if (!found) return undefined;
  return [
    `${found.code} (${found.part.toLowerCase()})`,
    '',
    ...fold(found.meaning, HELP_WIDTH),
    '',
    ...fold(`What to do: ${found.remedy}`, HELP_WIDTH),
    '',
  ].join('\n');
}

function entryOf(code: string): CodeHelp | undefined {
  let text: string;
  try {
    text = readFileSync(CATALOGUE, 'utf8');
  } catch {
    return undefined;
  }
  let part = '';
  for (const line of text.split('\n')) {
    if (line.startsWith('## ')) part = line.slice(3);
    const [, codes = '', meaning = '', remedy = ''] = ROW.exec(line) ?? [];
    if (codes.includes(`\`${code}\``)) return { code, part, meaning: plain(meaning), remedy: plain(remedy) };
  }
  return undefined;
}

/** Without what only a page can show. */
function plain(markdown: string): string {
  return markdown
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll('`', "'")
    .replaceAll('**', '');
}
