import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What the page on conformance says of how much is played. */
export function statedCounts(): string {
  const page = readFileSync(fileURLToPath(new URL('../../docs/conformance.md', import.meta.url)), 'utf8');
  return page.slice(page.indexOf('## Counts'));
}
