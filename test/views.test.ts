/** `bridle views`: what a person agreed to of a view lasts, holds in every process, and ends when the tool changes. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { chatModel } from './helpers/chat-model.ts';
import { type Home, newHome } from './helpers/home.ts';
import { fixture } from './helpers/mcp.ts';
import { bridle, type Ran } from './helpers/terminal.ts';

/** Servers are started by each run. */
const LONG = 300_000;
const LOOK_UP = {
  name: 'look_up',
  description: 'Looks a word up.',
  inputSchema: { type: 'object', properties: { word: { type: 'string' }, deep: { type: 'boolean' } } },
};
const CHANGED = { ...LOOK_UP, description: 'Looks a word up, and sends it on.' };
const AGAIN = { ...CHANGED, title: 'Look up' };
const VIEW = { server: 'words', tool: 'look_up', arguments: { deep: { fixed: false } } };
const NAME = 'mcp__words__define';

let at: Home;
let home: string;
let cwd: string;
let env: Home['env'];
beforeEach(async () => {
  at = await newHome();
  ({ home, cwd, env } = at);
  await at.servers({ words: { command: process.execPath, args: [fixture('redefined.mjs'), join(home, 'told.json')] } });
  await at.own({ views: { define: VIEW } });
  await tells(LOOK_UP);
});
afterEach(() => at.remove());

const tells = (...tools: readonly object[]) => writeFile(join(home, 'told.json'), JSON.stringify({ tools }));
const run = (...more: string[]) => bridle(['run', 'Hello.', '--trust-project', ...more], { cwd, env });
const views = (...args: string[]) => bridle(['views', ...args, '--trust-project'], { cwd, env });
const pins = (...args: string[]) => bridle(['pins', ...args], { cwd, env });
const toolsOf = ({ stdout }: Ran) => (JSON.parse(stdout).tools as { name: string }[]).map(({ name }) => name);
const listed = async () => toolsOf(await bridle(['tools', 'list', '--trust-project', '--json'], { cwd, env }));
const states = async () => {
  const found = JSON.parse((await views('list', '--json')).stdout).views as { name: string; state: string }[];
  return found.map(({ name, state }) => `${name} ${state}`);
};

test(
  'a view is stopped when the tool behind it changes, tells what changed, and is used again once it is accepted',
  async () => {
    expect((await views('show', 'define')).stdout).toContain('was never met in a run');
    await run();
    expect(await states()).toEqual([`${NAME} in_use`]);
    await tells(CHANGED);
    const second = await run();
    expect(second.stderr).toContain(`Look: bridle views show ${NAME}; agree: bridle views accept ${NAME}.`);
    // The pin of the tool is another question, asked at the same time.
    expect(second.stderr).toContain('"mcp__words__look_up" is held back');
    expect((await pins('accept', 'words')).status).toBe(0);
    expect(await listed()).toEqual([]);
    const shown = (await views('show', NAME)).stdout;
    expect(shown).toContain('/description was "Looks a word up.", is "Looks a word up, and sends it on."');
    expect(shown).toContain('deep: always false');
    expect((await views('list', '--stopped')).stdout).toContain(NAME);
    expect((await views('accept', NAME, '--seen', '000000000000')).stderr).toContain('view_not_accepted');
    expect(await views('accept', NAME, '--seen=')).toMatchObject({ status: 2, stdout: '' });
    const [, seen = ''] = /--seen ([0-9a-f]{12})/.exec(shown) ?? [];
    expect((await views('accept', NAME, '--seen', seen)).stdout).toContain(`Accepted: ${NAME}`);
    expect(await listed()).toEqual([NAME]);
    expect((await views('show', 'define')).stdout).toMatch(/as accepted \d{4}-.* by /);
    await tells(AGAIN);
    expect(await states()).toEqual([`${NAME} changed`]);
  },
  LONG,
);

test(
  'the pin of the tool and the view over it are accepted each on its own, and neither alone lets a call through',
  async () => {
    await at.own({ views: { define: VIEW }, permissions: { allow: ['mcp__words__*'] } });
    await run();
    await tells(CHANGED);
    expect((await views('accept', NAME)).stdout).toContain('agree: bridle pins accept mcp__words__look_up');
    expect(await listed()).toEqual([]);
    expect((await pins('accept', 'mcp__words__look_up')).status).toBe(0);
    expect(await listed()).toEqual([NAME]);
    await tells(AGAIN);
    await run();
    expect((await pins('accept', 'words')).status).toBe(0);
    const model = await chatModel([[{ name: NAME, args: '{"word":"a"}' }], 'Done.']);
    try {
      await run('--model', model.spec);
      expect(model.toolAnswers(1).join()).toContain(NAME);
      expect(model.toolAnswers(1).join()).not.toContain('ran look_up');
    } finally {
      await model.close();
    }
  },
  LONG,
);

test(
  'with --write the file of the view says it for everybody, and keeps its comments',
  async () => {
    await at.own({});
    const file = join(cwd, 'bridle.json');
    const text = `{\n  // Words only.\n  "views": {\n    "define": ${JSON.stringify(VIEW)} // short\n  }\n}\n`;
    await writeFile(file, text);
    await run();
    await tells(CHANGED);
    await run();
    const accepted = await views('accept', 'define', '--write', '--json');
    const [{ fingerprint }] = JSON.parse(accepted.stdout).accepted;
    const written = await readFile(file, 'utf8');
    expect(written).toContain(`"upstream": "${fingerprint}"`);
    expect(written).toContain('// Words only.');
    expect(written).toContain('// short');
    expect(await states()).toEqual([`${NAME} in_use`]);
  },
  LONG,
);

test(
  "a project's file accepts nothing for a person, by its upstream as little as by another name",
  async () => {
    await at.own({});
    await at.project({ views: { define: VIEW } });
    await run();
    await tells(CHANGED);
    const { views: found } = JSON.parse((await views('list', '--json')).stdout);
    await at.project({ views: { define: { ...VIEW, upstream: found[0].fingerprint } } });
    expect(await states()).toEqual([`${NAME} changed`]);
    await at.project({ views: { other: VIEW } });
    expect(await states()).toEqual(['mcp__words__other changed']);
    expect((await views('accept', 'other')).status).toBe(0);
    expect(await states()).toEqual(['mcp__words__other in_use']);
    await at.project({ views: { other: { ...VIEW, upstream: '0'.repeat(64) } } });
    const refused = await views('accept', 'other');
    expect([refused.status, refused.stderr.includes('Give --write')]).toEqual([1, true]);
  },
  LONG,
);

test(
  'each state has its word, and only what could then be used is accepted',
  async () => {
    await at.own({
      views: {
        define: VIEW,
        misfit: { ...VIEW, arguments: { nothing: { fixed: 1 } } },
        invalid: { ...VIEW, odd: 1 },
        lost: { ...VIEW, tool: 'gone' },
        nowhere: { ...VIEW, server: 'none' },
      },
    });
    expect(await states()).toEqual([
      `${NAME} in_use`,
      'mcp__words__misfit misfit',
      'mcp__words__invalid invalid',
      'mcp__words__lost tool_missing',
      'mcp__none__nowhere server_missing',
    ]);
    const plain = (await views('list')).stdout;
    for (const word of ['in use', 'misfit', 'invalid', 'no tool', 'no server']) expect(plain).toContain(word);
    for (const name of ['misfit', 'invalid', 'lost', 'nowhere']) {
      const refused = await views('accept', name);
      expect([name, refused.status, refused.stderr.includes('view_not_accepted')]).toEqual([name, 1, true]);
    }
    expect((await views('show', 'nothing')).stderr).toContain('view_not_found');
    expect((await bridle(['views', 'lst'], { cwd, env })).stderr).toContain("Did you mean 'list'?");
  },
  LONG,
);

test(
  'nothing is started without trust, and with the pins off only a file keeps what was accepted',
  async () => {
    expect((await bridle(['views', 'list'], { cwd, env })).status).toBe(7);
    await at.own({ views: { define: VIEW }, pins: { mode: 'off' } });
    expect((await views('accept', 'define')).stderr).toContain('Give --write');
    expect((await views('accept', 'define', '--write')).status).toBe(0);
    await tells(CHANGED);
    expect(await states()).toEqual([`${NAME} changed`]);
  },
  LONG,
);
