import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createAgent } from '../src/agent/index.ts';
import type { Json, Model } from '../src/contracts/index.ts';
import { closeAll, connectStdio, mcpSource } from '../src/mcp/client/index.ts';
import { scriptedModel } from '../src/testing/index.ts';
import { closedPort } from './fixtures/loopback-server.ts';
import { type ChatModel, type ChatTurn, chatModel } from './helpers/chat-model.ts';
import { alive, type Ended, type Entry, type Person, person, runBridle } from './helpers/cli-process.ts';
import { fixture, node } from './helpers/mcp.ts';
import { bridle } from './helpers/terminal.ts';

const TRUST = '--trust-project';
const STACK = /\n\s+at .*[:(]\d+/;

/** What holds for every run, however bad its input. */
function expectTidy(at: Person, { stdout, stderr }: Ended): void {
  expect(stdout + stderr).not.toMatch(STACK);
  expect(stdout + stderr).not.toContain('error (internal)');
  expect(alive(at)).toEqual([]);
}

describe('a configuration that is not as it should be', () => {
  let at: Person;
  beforeAll(async () => {
    at = await person();
  });
  afterAll(() => at.remove());
  const write = (name: string, content: string | Buffer) => writeFile(join(at.cwd, name), content);
  const list = () => bridle(['tools', 'list', TRUST], at);

  test('one that is no JSON is named with its file, line and column, and nothing is started', async () => {
    await write('.mcp.json', '{\n  "mcpServers": {\n    "good": { "command": "node" "args": [] }\n  }\n}\n');
    for (const args of [
      ['tools', 'list'],
      ['run', 'hello'],
    ]) {
      const { status, stdout, stderr } = await bridle([...args, TRUST], at);
      expect(stderr).toContain(`${join(at.cwd, '.mcp.json')}:3:33: a comma or a closing bracket was expected`);
      expect(stderr).not.toMatch(STACK);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    }
  });

  test('rules that are no JSON stop everything, since a deny could be among them', async () => {
    await at.servers({ good: at.fixture('misfits.mjs') });
    await write('bridle.json', '{ "permissions": { deny: [] } }');
    try {
      const { status, stdout, stderr } = await list();
      expect(stderr).toContain(`${join(at.cwd, 'bridle.json')}:1:20:`);
      expect(stderr).toContain('double quotes');
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    } finally {
      await write('bridle.json', '{}');
    }
  });

  test('a byte order mark, comments and trailing commas are taken as they are meant', async () => {
    const good = JSON.stringify(at.fixture('misfits.mjs'));
    await write(
      '.mcp.json',
      `\uFEFF{\n  // the one that works\n  "mcpServers": { "good": ${good}, /* no more */ },\n}\n`,
    );
    const { status, stdout, stderr } = await list();
    expect(stdout).toContain('mcp__good__whole');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('one in another encoding is told from one that is broken', async () => {
    await write('.mcp.json', Buffer.from('\uFEFF{"mcpServers":{}}', 'utf16le'));
    const { status, stderr } = await list();
    expect(stderr).toContain('UTF-16');
    expect(stderr).toContain('Save it as UTF-8');
    expect(status).toBe(2);
  });

  test('an entry that says nothing to start costs itself alone, with its line', async () => {
    const good = JSON.stringify(at.fixture('misfits.mjs'));
    await write('.mcp.json', `{ "mcpServers": {\n"good": ${good},\n"idle": { "args": [] },\n"listed": ["node"] } }`);
    const { status, stdout, stderr } = await list();
    expect(stdout).toContain('mcp__good__whole');
    expect(stderr).toMatch(/Server "idle" is not started: .*no "command".*\.mcp\.json:3\)/);
    expect(stderr).toMatch(/Server "listed" is not started: .*a list.*\.mcp\.json:4\)/);
    expect(status).toBe(0);
  });

  test('two servers of one name are said to be two, and the last one counts', async () => {
    const [first, last] = [at.fixture('scripted.mjs'), at.fixture('misfits.mjs')].map((entry) => JSON.stringify(entry));
    await write('.mcp.json', `{ "mcpServers": {\n"same": ${first},\n"same": ${last} } }`);
    const { status, stdout, stderr } = await list();
    expect(stderr).toMatch(/"same".*twice/);
    expect(stdout).toContain('mcp__same__whole');
    expect(stdout).not.toContain('mcp__same__echo');
    expect(status).toBe(0);
  });
});

describe('servers that start badly, all in one project beside a good one', () => {
  let at: Person;
  let listed: Ended;
  beforeAll(async () => {
    at = await person();
    const scripted = (args: string[], limits: Partial<Entry> = {}) => at.fixture('scripted.mjs', args, limits);
    await at.servers({
      gone: { command: 'no-such-command-anywhere', args: [at.mark] },
      exits: scripted(['--start=exit']),
      hangs: scripted(['--start=hang'], { startMs: 1_000 }),
      garbage: scripted(['--start=garbage'], { startMs: 1_000 }),
      misaddressed: at.fixture('misfits.mjs', ['--ids=wrong'], { startMs: 1_000 }),
      unlistable: scripted(['--list=bad']),
      slow_list: at.fixture('misfits.mjs', ['--list=silent'], { idleMs: 1_000 }),
      banner: scripted(['--start=banner']),
      flood: scripted(['--start=flood']),
      drowned: scripted(['--start=flood', '--initialize=silent'], { startMs: 1_500 }),
      good: at.fixture('misfits.mjs'),
    });
    listed = await runBridle(['tools', 'list', TRUST], at);
  }, 60_000);
  afterAll(() => at.remove());

  /** The one warning about a server. */
  const warning = (server: string) =>
    listed.stderr.split('\n').filter((line) => line.startsWith(`warning: Server "${server}"`));

  test.each([
    ['gone', 'there is no command no-such-command-anywhere'],
    ['exits', 'exited with code 7 before it was ready'],
    ['exits', 'fatal: giving up'],
    ['hangs', 'gave no answer within 1000 ms of its start'],
    ['garbage', 'Listening on http://localhost:3000'],
    ['misaddressed', 'gave no answer within 1000 ms of its start'],
    ['drowned', 'gave no answer within 1500 ms of its start'],
    ['unlistable', 'tools/list'],
    ['slow_list', 'sent nothing for 1000 ms'],
  ])('%s is warned of once, with what was seen: %s', (server, seen) => {
    expect(warning(server)).toEqual([expect.stringContaining(seen)]);
  });

  test.each([
    ['gone', 'Install it, or correct "command" of its entry'],
    ['exits', 'Run its command by hand'],
    ['hangs', 'Run its command by hand'],
    ['garbage', 'Is this command an MCP server over stdio?'],
  ])('the warning about %s says what to do: %s', (server, advice) => {
    expect(warning(server).join()).toContain(advice);
  });

  test('none of them costs the others: what can be listed is listed, and the command succeeds', () => {
    for (const tool of ['mcp__good__whole', 'mcp__banner__echo', 'mcp__flood__echo']) {
      expect(listed.stdout).toContain(tool);
    }
    for (const server of ['gone', 'exits', 'hangs', 'garbage', 'misaddressed', 'drowned', 'unlistable', 'slow_list']) {
      expect(listed.stdout).not.toContain(`mcp__${server}__`);
    }
    expect(listed.status).toBe(0);
  });

  test('a banner and a flood on stderr are kept from the person', () => {
    expect(warning('banner')).toEqual([]);
    expect(warning('flood')).toEqual([]);
    expect(listed.stderr.length).toBeLessThan(20_000);
  });

  test('no child is left, and no stack trace is shown', () => {
    expectTidy(at, listed);
  });

  test('a run warns in the same words, and does its task with the tools that are there', async () => {
    const model = await chatModel([[{ name: 'mcp__good__whole', args: '{}' }], 'Done.']);
    try {
      const args = ['run', 'Play.', TRUST, '--model', model.spec, '--allow', 'mcp__good__whole'];
      const ran = await runBridle(args, at);
      expect(ran.stderr).toContain('there is no command no-such-command-anywhere');
      expect(model.toolAnswers(1)).toEqual([expect.stringContaining('whole')]);
      expect({ status: ran.status, stdout: ran.stdout }).toEqual({ status: 0, stdout: 'Done.\n' });
      expectTidy(at, ran);
    } finally {
      await model.close();
    }
  });
});

describe('tools that are not as they should be', () => {
  let at: Person;
  const models: ChatModel[] = [];
  beforeAll(async () => {
    at = await person();
    await at.servers({
      odd: at.fixture('misfits.mjs'),
      lost: at.fixture('misfits.mjs', [], { idleMs: 1_500 }),
      good: at.fixture('scripted.mjs'),
      better: at.fixture('scripted.mjs'),
    });
  });
  afterEach(() => Promise.all(models.splice(0).map((model) => model.close())));
  afterAll(() => at.remove());

  /** Runs the script of a model on the project, every tool allowed. */
  async function play(turns: Parameters<typeof chatModel>[0], more: string[] = []) {
    const model = await chatModel(turns);
    models.push(model);
    const allow = ['odd', 'lost', 'good', 'better'].flatMap((server) => ['--allow', `mcp__${server}__*`]);
    const ran = await runBridle(['run', 'Play.', TRUST, '--model', model.spec, ...allow, ...more], at);
    expectTidy(at, ran);
    return { ...ran, model };
  }
  const calls = (...names: string[]): ChatTurn => names.map((name) => ({ name, args: '{}' }));

  test('an invalid schema sets its tool aside alone, and tools list says why', async () => {
    const ran = await runBridle(['tools', 'list', TRUST], at);
    const [tools, aside] = ran.stdout.split('Set aside:');
    expect(tools).toContain('mcp__odd__whole');
    expect(tools).not.toMatch(/listless|wordy/);
    expect(aside).toMatch(/odd\/listless: .*\bobject\b/);
    expect(aside).toMatch(/odd\/wordy: .*\bschema\b/i);
    expect(ran.status).toBe(0);
    expectTidy(at, ran);
    const json = await runBridle(['tools', 'list', TRUST, '--json'], at);
    const { setAside } = JSON.parse(json.stdout) as { setAside: { server: string; tool: string }[] };
    const ofOdd = setAside.filter(({ server }) => server === 'odd').map(({ tool }) => tool);
    expect(ofOdd.sort()).toEqual(['listless', 'twin', 'wordy']);
  });

  test('a name that stands twice in one server is one tool, and the other is set aside with the reason', async () => {
    const ran = await runBridle(['tools', 'list', TRUST], at);
    const [tools = '', aside] = ran.stdout.split('Set aside:');
    expect(tools.match(/mcp__odd__twin\b/g)).toHaveLength(1);
    expect(tools).toContain('The first twin.');
    expect(aside).toMatch(/odd\/twin: .*mcp__odd__twin/);
  });

  test('a name that two servers have is two tools, and each call goes to its own', async () => {
    const { model, status } = await play([
      [
        { name: 'mcp__good__constructor', args: '{}' },
        { name: 'mcp__odd__constructor', args: '{}' },
        { name: 'mcp__better__echo', args: '{"to":"better"}' },
      ],
      'Done.',
    ]);
    const [good, odd, better] = model.toolAnswers(1);
    expect(good).toContain('Unknown tool: constructor');
    expect(odd).toContain('constructed by hand');
    expect(better).toContain('{"to":"better"}');
    expect(status).toBe(0);
  });

  test('a tool named constructor is a tool like any other, and names of no tool are none', async () => {
    const { model, status, stdout } = await play([
      calls('mcp__odd__constructor', 'constructor', '__proto__', 'mcp__odd____proto__'),
      'Done.',
    ]);
    const [built, ...others] = model.toolAnswers(1);
    expect(built).toContain('constructed by hand');
    expect(others).toHaveLength(3);
    for (const other of others) expect(other).toContain('no tool');
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Done.\n' });
  });

  test('a server that dies in a call fails that call with its last words, and is there for the next one', async () => {
    const { model, status, stderr } = await play([
      calls('mcp__odd__crash'),
      calls('mcp__odd__whole', 'mcp__good__echo'),
      'Done.',
    ]);
    for (const told of [model.toolAnswers(1)[0], stderr]) {
      expect(told).toContain('exited with code 3');
      expect(told).toContain('segment 7 is corrupt');
    }
    expect(model.toolAnswers(2).slice(1)).toEqual([expect.stringContaining('whole'), expect.stringContaining('{}')]);
    expect(status).toBe(0);
  });

  test('an answer with a wrong id is no answer: the call ends at its limit, and the others are not kept', async () => {
    const { model, status, stderr } = await play([calls('mcp__good__echo', 'mcp__lost__misaddress'), 'Done.']);
    const [good, wrong] = model.toolAnswers(1);
    expect(good).toContain('{}');
    for (const told of [wrong, stderr]) {
      expect(told).toMatch(/(silent|sent nothing) for 1500 ms/);
      expect(told).not.toContain('for somebody else');
    }
    expect(status).toBe(0);
  });

  test('five megabytes of result reach the agent cut, with how to read on, and the trace survives them', async () => {
    let handle = '';
    let told = '';
    const { model, status, stdout } = await play([
      calls('mcp__odd__encyclopedia'),
      ({ messages }) => {
        told = (messages as { role: string; content: string }[]).findLast(({ role }) => role === 'tool')?.content ?? '';
        handle = /res_[\w-]+/.exec(told)?.[0] ?? '';
        const length = Number(/\d{7,}/.exec(told.replaceAll(',', ''))?.[0]);
        return [{ name: 'read_result', args: JSON.stringify({ result: handle, offset: length - 30 }) }];
      },
      'Done.',
    ]);
    expect(told.length).toBeGreaterThan(1_000);
    expect(told.length).toBeLessThan(200_000);
    expect(told).toContain('read_result');
    expect(handle).not.toBe('');
    expect(model.toolAnswers(2)[1]).toContain('The last word is zythum.');
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Done.\n' });

    const events = (await at.traces()).at(-1) ?? [];
    expect(events.filter(({ type }) => type === 'call')).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ type: 'end', how: 'answered' });
    const shown = await runBridle(['trace', 'show'], at);
    expect(shown.status).toBe(0);
    expect(shown.stdout).toContain('mcp__odd__encyclopedia');
    expect(shown.stdout.length).toBeLessThan(20_000);
  });

  test.each(['["a"]', '"a"', '7', 'null', '{"a":'])(
    'arguments %s from a model run nothing, and it is told why',
    async (args) => {
      const { model, status, stderr } = await play([
        [
          { name: 'mcp__odd__whole', args },
          { name: 'mcp__good__echo', args: '{"beside":true}' },
        ],
        'Done.',
      ]);
      const [bad, good] = model.toolAnswers(1);
      expect(bad).toMatch(/object/);
      expect(bad).not.toMatch(/^whole$/);
      expect(good).toContain('{"beside":true}');
      expect(stderr).not.toMatch(/→ .*mcp__odd__whole/);
      expect(status).toBe(0);
    },
  );

  test('a model that cannot be reached is named with its address, and the servers end', async () => {
    const url = await closedPort();
    const ran = await runBridle(['run', 'Play.', TRUST, '--model', `openai:x@${url}/v1`], at);
    expect(ran.stderr).toContain(new URL(url).host);
    expect(ran.stderr).toMatch(/Is .* running|Check|Start/);
    expect({ status: ran.status, stdout: ran.stdout }).toEqual({ status: 1, stdout: '' });
    expect((await at.traces()).at(-1)?.at(-1)).toMatchObject({ type: 'end', how: 'failed' });
    expectTidy(at, ran);
  });
});

describe('arguments that are no object, through the library', () => {
  afterEach(closeAll);

  test.each<[Json]>([[['a']], ['a'], [7], [null]])('%j reach no server, and the model is told so', async (input) => {
    const odd = connectStdio(node('odd', [fixture('misfits.mjs')]));
    const good = connectStdio(node('good', [fixture('scripted.mjs')]));
    const replies = scriptedModel([
      { calls: [{ name: 'mcp__odd__whole' }, { name: 'mcp__good__echo', input: { beside: true } }] },
      'Done.',
    ]);
    // The script takes objects only, as the API gives them; this model doesn't keep to that.
    const model: Model = {
      id: 'unruly',
      async respond(request, ctx) {
        const reply = await replies.respond(request, ctx);
        const { content, ...rest } = reply.message as { content: { name?: string; input?: Json }[] };
        const bent = content.map((block) => (block.name === 'mcp__odd__whole' ? { ...block, input } : block));
        return { ...reply, message: { ...rest, content: bent } as Json };
      },
    };
    const agent = await createAgent({
      model,
      sources: [mcpSource(odd), mcpSource(good)],
      permissions: { allow: ['mcp__odd__*', 'mcp__good__*'] },
    });
    const { end, text, messages } = await agent.run('Play.').result;
    await agent.close();
    const answers = JSON.stringify(messages.filter((message) => JSON.stringify(message).includes('tool_result')));
    expect({ end, text }).toEqual({ end: 'answered', text: 'Done.' });
    expect(answers).toContain('object');
    expect(answers).not.toContain('"text":"whole"');
    expect(answers).toContain('beside');
  });
});
