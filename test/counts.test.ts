/** The figures of the page on conformance are those of the tests, as far as they stand in their files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { statedCounts } from './helpers/stated-counts.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const stated = statedCounts();

test('each property test of the loop stands there with how much it plays, and prints its seed', () => {
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  );
  const found = files
    .filter((file) => file.endsWith('.test.ts') && file !== 'test/counts.test.ts')
    .flatMap((file) => {
      const [, runs, divided = '1'] = /BRIDLE_PROPERTY_RUNS \?\? ([\d_]+)\)(?: \/ (\d+))?/.exec(textOf(file)) ?? [];
      return runs === undefined ? [] : [{ file, count: Number(runs.replaceAll('_', '')) / Number(divided) }];
    });
  expect(found.length).toBeGreaterThan(4);
  for (const { file, count } of found) {
    expect(stated).toContain(`| \`${file}\` | ${count.toLocaleString('en')} |`);
    expect([file, /\(seed \$\{SEED\}\)/.test(textOf(file))]).toEqual([file, true]);
    expect([file, textOf(file).includes('seed: SEED')]).toEqual([file, true]);
  }
});

test('the clients of others stand there in the versions that are tried', () => {
  const { devDependencies } = JSON.parse(textOf('package.json')) as { devDependencies: Record<string, string> };
  for (const name of ['@anthropic-ai/sdk', '@modelcontextprotocol/sdk', '@modelcontextprotocol/client']) {
    expect(stated).toContain(`| \`${name}\` | ${devDependencies[name]} |`);
  }
  const peers = /const PEERS = \{([^}]*)\}/.exec(textOf('scripts/test-peers.mjs'))?.[1] ?? '';
  const versions = [...peers.matchAll(/'?([@\w/-]+)'?: '([\d.]+)'/g)];
  expect(versions).toHaveLength(7);
  for (const [, name = '', version = ''] of versions) expect(stated).toContain(`| \`${name}\` | ${version} |`);
});
