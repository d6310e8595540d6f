import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compiled } from './helpers/compiled.ts';

let dist = '';
let dir = '';
beforeAll(async () => {
  dist = await compiled(['contracts', 'tools', 'store', 'policy', 'host']);
  dir = await mkdtemp(join(tmpdir(), 'bridle-host-'));
});
afterAll(async () => {
  await rm(dirname(dist), { recursive: true });
  await rm(dir, { recursive: true });
});

const moduleUrl = (name: string) => JSON.stringify(pathToFileURL(join(dist, 'host', name)).href);
const evaluated = (program: string, ...args: string[]) => ['--input-type=module', '-e', program, ...args];

describe('the host in processes of its own', () => {
  test('two processes that approve projects at once lose nothing of each other', async () => {
    const program = `
      import { trustStore } from ${moduleUrl('trust-store.js')};
      const [, dir, name] = process.argv;
      for (let i = 0; i < 10; i++)
        await trustStore(dir).put({ path: '/' + name + i, at: '', files: new Map(), items: new Map() });`;
    const run = (name: string) => promisify(execFile)(process.execPath, evaluated(program, dir, name));
    await Promise.all([run('a'), run('b')]);
    const saved = JSON.parse(await readFile(join(dir, 'trust.json'), 'utf8'));
    expect(saved.projects).toHaveLength(20);
  });

  test('an input that stays open keeps no process alive once the question is answered', async () => {
    const program = `
      import { terminalAsker } from ${moduleUrl('terminal-asker.js')};
      const ref = { server: null, tool: 't', name: 't', fingerprint: '' };
      const asker = terminalAsker({ input: process.stdin, output: process.stderr });
      const reply = await asker.ask({ who: { agent: 'a' }, tool: { ref }, args: {}, decision: { reasons: [] },
        signal: new AbortController().signal });
      console.log(reply.answer);`;
    const child = spawn(process.execPath, evaluated(program));
    let out = '';
    child.stdout.on('data', (data) => {
      out += data;
    });
    child.stdin.write('y\n');
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    expect(out).toBe('allow\n');
  });
});
