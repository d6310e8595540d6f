import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../contracts/index.ts';

let own: JsonObject | undefined;

/** How we introduce ourselves; for display on the other side. */
export function clientInfo(): JsonObject {
  own ??= {
    name: 'bridle',
    version: (
      JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }
    ).version,
  };
  return own;
}
