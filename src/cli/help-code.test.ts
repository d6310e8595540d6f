import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bridle } from '../../test/helpers/terminal.ts';
import { helpOfCode } from './help-code.ts';

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
const at = { cwd: process.cwd(), env: {} };

test('every code of the catalogue, errors and reasons, has a help within 80 columns', () => {
  const codes = [...page.matchAll(/^\| (`.*`) \| [^|]+ \| [^|]+ \|$/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([a-z0-9_]+)`/g)].map(([, code = '']) => code),
  );
  expect(codes.length).toBeGreaterThan(100);
  for (const code of codes) {
    const help = helpOfCode(code);
    expect(help, code).toMatch(/^[a-z0-9_]+ \(.+\)\n\n[\s\S]+\n\nWhat to do: /);
    for (const line of help?.split('\n') ?? []) if (line.includes(' ')) expect(line.length, code).toBeLessThan(100);
  }
});

test('bridle help CODE shows it, and each error says so', async () => {
  const { stdout, status } = await bridle(['help', 'model_unknown'], at);
  expect(status).toBe(0);
  expect(stdout).toContain('model_unknown (models)');
  expect((await bridle(['help', 'run'], at)).stdout).toContain('Usage: bridle run');
  const error = await bridle(['run', 'Hello', '--model', 'nonsense'], at);
  expect(error.stderr).toContain("More: 'bridle help model_unknown'");
  expect(await bridle(['help', 'nonsense_code'], at)).toMatchObject({ status: 2, stdout: '' });
});
