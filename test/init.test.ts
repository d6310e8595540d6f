import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readBridleFile } from '../src/host/bridle-json.ts';
import { readConfigFile } from '../src/host/config-file.ts';
import { initProject } from '../src/host/init-project.ts';
import { bridle } from './helpers/terminal.ts';

let dir = '';
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-init-')));
});
afterEach(() => rmSync(dir, { recursive: true }));

test('writes rules that are read without a warning, and an agent that answers', async () => {
  const folder = join(dir, 'new', 'agent');
  expect(await initProject(folder)).toEqual({ written: ['bridle.json', 'agent.mjs'], kept: [] });
  const file = await readConfigFile(join(folder, 'bridle.json'));
  expect(file && readBridleFile(file, 'project').warnings).toEqual([]);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(fileURLToPath(new URL('..', import.meta.url)), join(folder, 'node_modules', 'bridle'));
  const say = (...args: string[]) =>
    execFileSync(process.execPath, ['agent.mjs', ...args], { cwd: folder, encoding: 'utf8' });
  expect(say()).toContain('open');
  expect(say('What is the status of ticket T-18?')).toContain('closed');
});

test('the rules keep their meaning with the previews that stand in a comment', async () => {
  await initProject(dir);
  const text = readFileSync(join(dir, 'bridle.json'), 'utf8').replace(/^( *)\/\/ ( *["}])/gm, '$1$2');
  writeFileSync(join(dir, 'bridle.json'), text);
  const file = await readConfigFile(join(dir, 'bridle.json'));
  const read = file && readBridleFile(file, 'project');
  expect(read?.warnings).toEqual([]);
  expect(read?.previews).toHaveLength(1);
});

test('overwrites nothing, not even what a link leads to', async () => {
  writeFileSync(join(dir, 'bridle.json'), '{}');
  expect(await initProject(dir)).toEqual({ written: ['agent.mjs'], kept: ['bridle.json'] });
  expect(readFileSync(join(dir, 'bridle.json'), 'utf8')).toBe('{}');
  await expect(initProject(dir)).rejects.toMatchObject({ code: 'init_exists' });
  rmSync(join(dir, 'agent.mjs'));
  symlinkSync(join(dir, 'nowhere'), join(dir, 'agent.mjs'));
  await expect(initProject(dir)).rejects.toMatchObject({ code: 'init_exists' });
  await expect(initProject(join(dir, 'bridle.json'))).rejects.toMatchObject({ code: 'init_failed' });
  await expect(initProject('/proc/nothing/here')).rejects.toMatchObject({ code: 'init_failed' });
});

test('bridle init says what it wrote and what it kept, and how to go on', async () => {
  writeFileSync(join(dir, 'agent.mjs'), '');
  const at = { cwd: dir, env: { HOME: dir } };
  const { status, stdout } = await bridle(['init'], at);
  expect(status).toBe(0);
  expect(stdout).toContain(`wrote ${join(dir, 'bridle.json')}`);
  expect(stdout).toContain(`kept ${join(dir, 'agent.mjs')}`);
  expect(stdout).toContain('bridle mcp import');
  expect(await bridle(['init'], at)).toMatchObject({ status: 1, stderr: expect.stringContaining('init_exists') });
  expect(JSON.parse((await bridle(['init', 'sub', '--json'], at)).stdout)).toMatchObject({ folder: join(dir, 'sub') });
});
