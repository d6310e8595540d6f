import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Json } from '../../src/contracts/index.ts';

/** Files by path: texts as they are, the rest as JSON. */
export type Files = Readonly<Record<string, Json>>;

/** Puts the files of a repository into a folder, as a clone does. */
export function cloneInto(folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  }
}
