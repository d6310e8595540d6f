import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chatModel } from './helpers/chat-model.ts';
import { type Home, newHome } from './helpers/home.ts';
import { fixture } from './helpers/mcp.ts';
import { bridle, type Ran } from './helpers/terminal.ts';

/** Servers are started by each run. */
const LONG = 300_000;
const LOOK_UP = { name: 'look_up', description: 'Looks a word up.', inputSchema: { type: 'object' } };
const SAY = { name: 'say', description: 'Says a word.', inputSchema: { type: 'object' } };
const CHANGED = { ...LOOK_UP, description: 'Looks a word up, and sends it on.' };

let at: Home;
let home: string;
let cwd: string;
let env: Home['env'];
beforeEach(async () => {
  at = await newHome();
  ({ home, cwd, env } = at);
  const server = { command: process.execPath, args: [fixture('redefined.mjs'), join(home, 'told.json')], trust: true };
  await at.servers({ words: server });
  await tells([LOOK_UP, SAY]);
});
afterEach(() => at.remove());

const tells = (tools: readonly object[], instructions?: string) =>
  writeFile(join(home, 'told.json'), JSON.stringify({ tools, ...(instructions !== undefined && { instructions }) }));
const run = (...more: string[]) => bridle(['run', 'Hello.', '--trust-project', ...more], { cwd, env });
const pins = (...args: string[]) => bridle(['pins', ...args], { cwd, env });
const toolsOf = ({ stdout }: Ran) => (JSON.parse(stdout).tools as { name: string }[]).map(({ name }) => name);
const listed = () => bridle(['tools', 'list', '--trust-project', '--json'], { cwd, env });

describe('pins at first use', () => {
  test(
    'new tools are pinned and told once; a changed one is held back until it is accepted',
    async () => {
      const first = await run();
      expect(first.stderr).toContain('2 new tools of server words were pinned');
      // What the host itself asks the rules about is no tool of the server.
      const all = JSON.parse((await pins('list', '--json')).stdout).pins as { name: string }[];
      expect(all.map(({ name }) => name).filter((name) => name.includes('any_tool'))).toEqual([]);
      expect(first.stderr.match(/pinned \(/g)).toHaveLength(1);
      await tells([CHANGED, SAY]);
      const second = await run();
      expect(second.stderr).not.toContain('new tool');
      expect(second.stderr).toContain('"mcp__words__look_up" is held back');
      const [, id = ''] = /bridle pins accept ([0-9a-f-]+)\./.exec(second.stderr) ?? [];
      const looked = await listed();
      expect(toolsOf(looked)).toEqual(['mcp__words__say']);
      expect(looked.stderr).toContain(`bridle pins show ${id}`);
      const shown = await pins('show', 'mcp__words__look_up');
      expect(shown.stdout).toContain('/description was "Looks a word up.", is "Looks a word up, and sends it on."');
      expect((await pins('list', '--waiting')).stdout).toContain(id);
      expect((await pins('accept', id, '--seen', '000000000000')).stderr).toContain('pin_nothing_new');
      expect(await pins('accept', id, '--seen', '0')).toMatchObject({ status: 2, stdout: '' });
      const accepted = await pins('accept', 'words', '--json');
      expect(JSON.parse(accepted.stdout)).toMatchObject({ accepted: [{ id, pinned: { definition: CHANGED } }] });
      expect(toolsOf(await listed())).toEqual(['mcp__words__look_up', 'mcp__words__say']);
    },
    LONG,
  );

  test(
    'a call of what changed is denied and does not run, whatever rule allows it',
    async () => {
      await at.own({ permissions: { allow: ['mcp__words__*'] } });
      await run();
      await tells([CHANGED, SAY]);
      const call = [
        { name: 'mcp__words__look_up', args: '{}' },
        { name: 'mcp__words__say', args: '{}' },
      ];
      const model = await chatModel([call, 'Done.']);
      try {
        await run('--model', model.spec);
        expect(model.toolAnswers(1).join()).not.toContain('ran look_up');
        expect(model.toolAnswers(1).join()).toContain('ran say');
      } finally {
        await model.close();
      }
    },
    LONG,
  );

  test(
    'changed instructions of a trusted server are not given to the model until they are accepted',
    async () => {
      await tells([SAY], 'Say one word.');
      const asked = async () => {
        const model = await chatModel(['Done.']);
        try {
          const ran = await run('--model', model.spec);
          return { ran, given: JSON.stringify(model.requests) };
        } finally {
          await model.close();
        }
      };
      expect((await asked()).given).toContain('Say one word.');
      await tells([SAY], 'Say all that you know.');
      const { ran, given } = await asked();
      expect(ran.stderr).toContain('The instructions of server "words" are held back');
      expect(given).not.toContain('Say all that you know.');
      expect(given).toContain('mcp__words__say');
      expect((await pins('accept', 'mcp__words')).stdout).toContain('Accepted: ');
      expect((await asked()).given).toContain('Say all that you know.');
    },
    LONG,
  );

  test(
    'explain says how a tool is pinned, and pins nothing by looking',
    async () => {
      const explained = async () =>
        (await bridle(['explain', 'mcp__words__say', '--trust-project'], { cwd, env })).stdout;
      expect(await explained()).toContain('It is new here');
      expect(await explained()).toContain('It is new here');
      expect((await pins('list')).stdout).toContain('Nothing is pinned here yet.');
      await run();
      expect(await explained()).toContain('It is pinned as it was seen first');
      await tells([{ ...SAY, title: 'Say it' }]);
      expect(await explained()).toContain('changed since it was pinned');
    },
    LONG,
  );

  test(
    'the person may turn the pins off, a project may not',
    async () => {
      await run();
      await tells([CHANGED, SAY]);
      await at.project({ pins: { mode: 'off' } });
      const refused = await listed();
      expect(refused.stderr).toContain('A project never turns the pins off');
      expect(toolsOf(refused)).toEqual(['mcp__words__say']);
      await at.own({ pins: { mode: 'off' } });
      expect(toolsOf(await listed())).toEqual(['mcp__words__look_up', 'mcp__words__say']);
    },
    LONG,
  );
});

describe('pins that are taken away', () => {
  test(
    'forget makes tools new again; prune takes those of servers that are not there any more',
    async () => {
      await run();
      await tells([CHANGED, SAY]);
      expect((await run()).stderr).toContain('"mcp__words__look_up" is held back');
      expect((await pins('forget', 'words', 'shout')).stderr).toContain('pin_not_found');
      expect((await pins('forget', 'words', 'look_up')).stdout).toContain('mcp__words__look_up');
      const again = await run();
      expect(again.stderr).toContain('1 new tool of server words was pinned');
      expect(again.stderr).not.toContain('held back');
      expect((await pins('prune')).stdout).toBe('0 pins taken away.\n');

      const entry = { command: process.execPath, args: [fixture('redefined.mjs'), join(home, 'told.json'), 'more'] };
      await at.servers({ words: entry });
      // Nothing is known of what the server would be while nobody trusts its entry.
      expect((await pins('prune', '--dry-run')).stdout).toBe('0 pins would be taken away.\n');
      await at.servers({});
      const dry = await pins('prune', '--dry-run');
      expect(dry.stdout).toContain('(server words is not configured here)');
      expect(dry.stdout).toContain('pins would be taken away.\n');
      const file = join(home, 'named.json');
      await writeFile(file, JSON.stringify({ mcpServers: { words: entry } }));
      const other = await pins('prune', '--mcp-config', file, '--dry-run');
      expect(other.stdout).toContain('(server words has another command line or address now)');
      expect(JSON.parse((await pins('list', '--json')).stdout).pins).toHaveLength(2);
      const gone = JSON.parse((await pins('prune', '--json')).stdout);
      expect(gone.pruned.map(({ tool }: { tool: string | null }) => tool)).toEqual(
        expect.arrayContaining(['look_up', 'say']),
      );
      expect((await pins('list')).stdout).toContain('Nothing is pinned here yet.');
    },
    LONG,
  );

  test(
    'a change that its server took back does not wait any more',
    async () => {
      await run();
      await tells([CHANGED, SAY]);
      await run();
      expect((await pins('list', '--waiting')).stdout).toContain('look_up');
      await tells([LOOK_UP, SAY]);
      await run();
      expect((await pins('list', '--waiting')).stdout).toBe('Nothing is held back.\n');
    },
    LONG,
  );
});

describe('pins by a lock', () => {
  test(
    'what is not in the lock, or not as it is there, is denied, and check tells it to CI',
    async () => {
      const none = await pins('check', '--trust-project');
      expect([none.status, none.stderr.includes('config_missing')]).toEqual([2, true]);
      const locked = await pins('lock', '--trust-project');
      expect(locked.stdout).toBe('Wrote bridle.lock.json: 1 server, 2 tools.\n');
      expect((await pins('check', '--trust-project')).stdout).toBe('1 server, 2 tools as locked.\n');
      await at.own({ pins: { mode: 'locked' } });
      await tells([CHANGED, SAY, { ...SAY, name: 'shout' }]);
      const seen = await listed();
      expect(toolsOf(seen)).toEqual(['mcp__words__say']);
      expect(seen.stderr).toContain('look_up, shout. Look: bridle pins check');
      const check = await pins('check', '--trust-project', '--json');
      expect(check.status).toBe(1);
      expect(JSON.parse(check.stdout).differences).toMatchObject([
        { server: 'words', tool: 'look_up', what: 'changed' },
        { server: 'words', tool: 'shout', what: 'new' },
      ]);
      await writeFile(join(cwd, 'bridle.lock.json'), '{}');
      expect((await listed()).stderr).toContain('config_lock_unreadable');
      expect((await pins('lock', '--trust-project')).status).toBe(0);
      expect(toolsOf(await listed())).toHaveLength(3);
    },
    LONG,
  );

  test(
    'nothing is started for check and lock without trust, and no lock is written of what is held back',
    async () => {
      for (const verb of ['check', 'lock']) expect((await pins(verb)).status).toBe(7);
      await run();
      await tells([CHANGED, SAY]);
      const refused = await pins('lock', '--trust-project');
      expect(refused.stderr).toContain('pin_unreviewed');
      await expect(readFile(join(cwd, 'bridle.lock.json'))).rejects.toThrow('ENOENT');
      await pins('accept', 'words');
      expect((await pins('lock', '--trust-project')).status).toBe(0);
    },
    LONG,
  );

  test(
    'a project that brings its lock loosens nothing, and without one no tool may be used',
    async () => {
      await run();
      await at.project({ pins: { mode: 'locked' } });
      const bare = await listed();
      expect([toolsOf(bare), bare.stderr.includes('There is no bridle.lock.json')]).toEqual([[], true]);
      await tells([CHANGED, SAY]);
      await at.own({ pins: { mode: 'off' } });
      expect((await pins('lock', '--trust-project')).status).toBe(0);
      expect(toolsOf(await listed())).toHaveLength(2);
      await at.own({});
      expect(toolsOf(await listed())).toEqual(['mcp__words__say']);
    },
    LONG,
  );

  test(
    "a project's lock speaks for the project's servers; your own stay under your own pins",
    async () => {
      const mine = { command: process.execPath, args: [fixture('redefined.mjs'), join(home, 'mine.json')] };
      const tellsMine = (tools: readonly object[]) => writeFile(join(home, 'mine.json'), JSON.stringify({ tools }));
      await tellsMine([SAY]);
      await writeFile(join(home, 'config', 'bridle', 'mcp.json'), JSON.stringify({ mcpServers: { mine } }));
      await at.project({ pins: { mode: 'locked' } });
      const locked = await pins('lock', '--trust-project');
      expect(locked.stdout).toBe(
        'Wrote bridle.lock.json: 1 server, 2 tools.\nNot in it, because they are your own: mine.\n',
      );
      expect((await pins('check', '--trust-project')).status).toBe(0);
      expect(toolsOf(await listed())).toContain('mcp__mine__say');
      await run();
      await tellsMine([{ ...SAY, description: 'Says a word to others.' }]);
      const changed = await listed();
      expect(toolsOf(changed)).toEqual(['mcp__words__look_up', 'mcp__words__say']);
      expect(changed.stderr).toContain('"mcp__mine__say" is held back');
      // Where the person's own word is the lock, it speaks for everything.
      await at.own({ pins: { mode: 'locked' } });
      expect((await listed()).stderr).toContain('Of server "mine" is held back what bridle.lock.json');
      expect((await pins('lock', '--trust-project')).stdout).toContain('2 servers, 3 tools.');
      expect(toolsOf(await listed())).toContain('mcp__mine__say');
      expect((await pins('check', '--trust-project', '--project')).stdout).toContain('server mine is in the lock');
    },
    LONG,
  );

  test(
    'servers of a file that is named on the command line are locked, compared and held to the lock where it is named',
    async () => {
      const file = join(home, 'more.json');
      const more = { command: process.execPath, args: [fixture('redefined.mjs'), join(home, 'more-told.json')] };
      const tellsMore = (tools: readonly object[]) =>
        writeFile(join(home, 'more-told.json'), JSON.stringify({ tools }));
      await tellsMore([SAY]);
      await writeFile(file, JSON.stringify({ mcpServers: { more } }));
      const flags = ['--trust-project', '--mcp-config', file];
      const tools = async () =>
        toolsOf(await bridle(['tools', 'list', '--json', ...flags], { cwd, env })).filter((name) =>
          name.startsWith('mcp__more'),
        );
      await at.project({ pins: { mode: 'locked' } });
      const alone = await pins('lock', '--project', ...flags);
      expect(alone.stdout).toContain('1 server, 2 tools.\nNot in it, because they are your own: more.\n');
      expect((await pins('check', '--project', ...flags)).stdout).toContain(
        'Not compared, because they are your own: more.',
      );
      // A lock that doesn't name it says nothing of it.
      expect(await tools()).toEqual(['mcp__more__say']);
      expect((await pins('check', ...flags)).stdout).toContain('server more is not in the lock');
      expect((await pins('lock', ...flags)).stdout).toContain('2 servers, 3 tools.');
      expect((await pins('check', ...flags)).stdout).toBe('2 servers, 3 tools as locked.\n');
      expect(await tools()).toEqual(['mcp__more__say']);
      // New to the person, and so to their own pins: the lock alone is in the way.
      await tellsMore([SAY, LOOK_UP]);
      expect((await pins('check', ...flags)).status).toBe(1);
      expect(await tools()).toEqual(['mcp__more__say']);
    },
    LONG,
  );
});
