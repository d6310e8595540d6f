import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMANDS } from '../src/cli/commands.ts';
import { bridle, type Terminal } from './helpers/terminal.ts';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
let home: string;
let shop: string;
let fresh = 0;

/** A person's surroundings: their own state folder (so nothing is trusted yet) and nothing of ours. */
function at(cwd: string, extra: Partial<Terminal> & { env?: Record<string, string> } = {}): Terminal {
  fresh += 1;
  const env = { PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: join(home, `state-${fresh}`), ...extra.env };
  return { cwd, env, ...(extra.types && { types: extra.types }), ...(extra.columns && { columns: extra.columns }) };
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'bridle-cli-'));
  shop = join(home, 'shop');
  await cp(join(root, 'examples', 'shop'), shop, { recursive: true });
  await writeFile(
    join(shop, '.mcp.json'),
    JSON.stringify({
      mcpServers: { shop: { command: 'node', args: [join(root, 'dist', 'examples', 'shop', 'server.js')] } },
    }),
  );
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe('help', () => {
  test('every command has a help with its options and at least one example', async () => {
    for (const { name, options, summary } of COMMANDS) {
      const { status, stdout } = await bridle([name, '--help'], at(home));
      expect(status).toBe(0);
      expect(stdout.replace(/\s+/g, ' ')).toContain(summary);
      // A command of an example is whole, so that it can be copied.
      for (const line of stdout.split('\n').filter((one) => !one.startsWith('  bridle ')))
        expect(line.length).toBeLessThanOrEqual(80);
      expect(stdout).toContain('Examples:');
      for (const option of Object.keys(options)) expect(stdout).toContain(`--${option}`);
      expect(await bridle(['help', name], at(home))).toMatchObject({ status: 0, stdout });
    }
  });

  test('every row of the table loads a module with a run function', async () => {
    for (const command of COMMANDS) expect(await command.load()).toHaveProperty('run');
  });

  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(await bridle(['--version'], at(home))).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('without a command the overview names every command', async () => {
    const { stdout } = await bridle([], at(home));
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    for (const { name } of COMMANDS) expect(stdout).toContain(`  ${name} `);
  });
});

describe('bad usage ends with status 2, a message, and the way on', () => {
  test.each([
    [['rnu'], "There is no command 'rnu'. Did you mean 'run'?"],
    [['--verison'], "There is no option '--verison'"],
    [['run'], 'There is no task.'],
    [['run', 'a', 'b'], "'bridle run' takes one argument, and there are 2. Put the task in quotes."],
    [['tools', 'list', 'a'], "'bridle tools' takes one argument, and there are 2."],
    [['demo', 'a'], "'bridle demo' takes no argument, and there is 1."],
    [['mcp', 'list', 'a'], "'bridle mcp list' takes no argument, and there is 1."],
    [['mcp', 'get', 'a', 'b'], "'bridle mcp get' takes one argument, and there are 2."],
    [['run', 'a', '--max-turn', '3'], 'Did you mean --max-turns?'],
    [['run', 'a', '--max-turns', 'zero'], "--max-turns takes a positive whole number, not 'zero'."],
    [
      ['run', 'a', '--max-turns', '-1'],
      '--max-turns needs a value; one that begins with a dash is written --max-turns=VALUE.',
    ],
    [['run', 'a', '--max-turns=-1'], "--max-turns takes a positive whole number, not '-1'."],
    [['run', 'a', '--allow'], '--allow needs a value.'],
    [['run', 'a', '--mode', 'yolo'], 'yolo'],
    [['run', 'a', '--allow', '*'], '*'],
    [['run', 'a', '--mcp-config', 'missing.json'], 'missing.json'],
    [['run', 'a', '--model', 'gpt'], 'There is no model "gpt"'],
    [['run', 'a', '--model', 'openai:x@localhost:11434/v1'], 'What follows @'],
    [['run', ' '], 'There is no task.'],
    [['run', 'a', '--model', 'openai:x@http://127.0.0.1:1/v1', '--max-cost', '1'], 'no price is known'],
    [['tools', 'show'], "There is no 'bridle tools show'."],
    [['trace', 'shwo'], "There is no 'bridle trace shwo'."],
  ])('%j', async (args, message) => {
    const { status, stdout, stderr } = await bridle(args, at(home));
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });
});

test('with --json an error is one JSON object on stdout, beside the words on stderr', async () => {
  const { status, stdout, stderr } = await bridle(['run', 'a', '--json', '--model', 'gpt'], at(home));
  expect(JSON.parse(stdout)).toEqual({
    error: { code: 'model_unknown', message: 'There is no model "gpt".', hint: expect.stringContaining('offline') },
  });
  expect(stderr).toContain('There is no model');
  expect(status).toBe(2);
});

describe('trust', () => {
  test('without a terminal an untrusted project ends with status 7, shows the whole command, and starts nothing', async () => {
    const { status, stdout, stderr } = await bridle(['run', 'Where is order O-104?'], at(shop));
    expect(status).toBe(7);
    expect(stdout).toBe('');
    expect(stderr).toContain(join(root, 'dist', 'examples', 'shop', 'server.js'));
    expect(stderr).toContain('--trust-project');
  });

  test('what is wrong on the command line is said before anybody is asked about trust', async () => {
    for (const args of [
      ['', '--trust-project'],
      ['a', '--mode', 'yolo'],
      ['a', '--model', 'openai:x@localhost'],
    ]) {
      const { status, stderr } = await bridle(['run', ...args], at(shop, { types: ['n'] }));
      expect(stderr).toContain('error (');
      expect(stderr).not.toContain('Trust this folder?');
      expect(status).toBe(2);
    }
  });

  test('a person who says no is not asked for anything else, and nothing is started', async () => {
    const { status, stderr } = await bridle(['tools', 'list'], at(shop, { types: ['n'] }));
    expect(stderr).toContain('Server "shop" is not started');
    expect(status).toBe(0);
  });

  test('a yes is remembered until the files change', async () => {
    const here = at(shop, { types: ['y'] });
    expect((await bridle(['tools', 'list'], here)).stdout).toContain('mcp__shop__get_order');
    const again = await bridle(['tools', 'list'], { ...here, types: [] });
    expect(again.stderr).not.toContain('Trust this folder?');
    expect(again.stdout).toContain('mcp__shop__get_order');

    const file = join(shop, '.mcp.json');
    const text = await readFile(file, 'utf8');
    try {
      await writeFile(file, text.replace('"node"', '"nodejs"'));
      const changed = await bridle(['tools', 'list'], { ...here, types: ['n'] });
      expect(changed.stderr).toContain('CHANGED: server shop runs:');
    } finally {
      await writeFile(file, text);
    }
  });

  test('a file named with --mcp-config is trusted, and the folder it lies in is not', async () => {
    const elsewhere = await mkdtemp(join(home, 'elsewhere-'));
    const { status, stdout } = await bridle(['tools', 'list', '--mcp-config', join(shop, '.mcp.json')], at(elsewhere));
    expect(status).toBe(0);
    expect(stdout).toMatch(/mcp__shop__get_order\s+ask/);
  });
});

describe('bridle run', () => {
  const refund = 'Please refund order O-104.';

  test('refunds an order after a person has seen the amount, said yes, and confirmed it to the shop', async () => {
    const { status, stdout, stderr } = await bridle(['run', refund], at(shop, { types: ['y', 'y', 'y', 'y'] }));
    expect(stderr).toContain('"amount": "1250.00"');
    expect(stderr).toContain('"currency": "USD"');
    expect(stderr).toContain('Refund 1250.00 USD of order O-104?');
    expect(stdout).toMatch(/1250\.00/);
    expect(stdout).toMatch(/RF-\d+/);
    expect(status).toBe(0);
  });

  test('does not refund when the person says no, and tells the agent their words', async () => {
    const { stdout, stderr } = await bridle(['run', refund], at(shop, { types: ['y', 'n wait until Monday'] }));
    expect(stdout).toContain('wait until Monday');
    expect(stdout + stderr).not.toMatch(/RF-\d+/);
  });

  test('does not refund when the call is allowed and the customer says no', async () => {
    const { stdout, stderr } = await bridle(['run', refund], at(shop, { types: ['y', 'y', '/decline'] }));
    expect(stdout).toContain('did not confirm');
    expect(stdout + stderr).not.toMatch(/RF-\d+/);
  });

  test('without a terminal an ask is refused, and says how to go on', async () => {
    const { stdout, stderr } = await bridle(['run', refund, '--trust-project'], at(shop));
    expect(stderr).toContain('denied by nobody');
    expect(stdout).toContain('An ask rule');
    expect(stdout + stderr).not.toMatch(/RF-\d+/);
  });

  test('a call that no rule names is refused without a terminal, and the rule that would allow it is named', async () => {
    const bare = await mkdtemp(join(home, 'bare-'));
    const args = ['run', 'Where is order O-104?', '--mcp-config', join(shop, '.mcp.json')];
    expect((await bridle(args, at(bare))).stdout).toContain("--allow 'mcp__shop__get_order'");
    const allowed = await bridle([...args, '--allow', 'mcp__shop__get_order'], at(bare));
    expect(allowed.stdout).toContain('delivered');
  });

  test('in plan mode what changes something is not offered, and an empty view is explained', async () => {
    const { stdout, stderr } = await bridle(['run', refund, '--trust-project', '--mode', 'plan'], at(shop));
    expect(stdout).not.toMatch(/RF-\d+/);
    expect(stderr).toContain('"trust": true');
  });

  test('a disabled server is not worth a warning in a run, and explain still tells of it', async () => {
    const folder = await mkdtemp(join(home, 'disabled-'));
    const file = join(folder, 'servers.json');
    await writeFile(file, JSON.stringify({ mcpServers: { off: { command: 'node', disabled: true } } }));
    const run = await bridle(['run', 'Hello', '--mcp-config', file], at(folder));
    expect(run.stderr).not.toContain('warning');
    const explained = await bridle(['explain', 'mcp__off__x', '--mcp-config', file], at(folder));
    expect(explained.stdout).toContain('Disabled in its entry');
  });

  test('ends with status 3 when the agent asks, and puts the question on stdout', async () => {
    const { status, stdout } = await bridle(['run', 'Where is my order?', '--trust-project'], at(shop));
    expect(stdout).toMatch(/order id/i);
    expect(status).toBe(3);
  });

  test("somebody else's order and one that doesn't exist get the same words", async () => {
    const words = async (order: string) =>
      (await bridle(['run', `Where is order ${order}?`, '--trust-project', '--quiet'], at(shop))).stdout.replaceAll(
        order,
        'X',
      );
    expect(await words('O-201')).toBe(await words('O-999'));
    expect(await words('O-201')).toContain('not available');
  });

  test('ends with status 6 at a limit, and says which', async () => {
    const { status, stderr } = await bridle(['run', refund, '--trust-project', '--max-turns', '1'], at(shop));
    expect(status).toBe(6);
    expect(stderr).toContain('limit of 1 model reply');
    expect(stderr).toContain('--max-turns');
    expect(stderr).toContain('1 turn, 0 calls, ');
  });

  test('--json prints one object with the end, the text and the trace', async () => {
    const { stdout } = await bridle(['run', 'Where is order O-104?', '--trust-project', '--json'], at(shop));
    const result = JSON.parse(stdout) as Record<string, unknown>;
    expect(result).toMatchObject({ end: 'answered', turns: 2, calls: 1, usage: expect.anything() });
    expect(await readFile(String(result.trace), 'utf8')).toContain('"type":"call"');
  });

  test('--quiet leaves stderr empty', async () => {
    const { stderr } = await bridle(['run', 'Where is order O-104?', '--trust-project', '--quiet'], at(shop));
    expect(stderr).toBe('');
  });

  test('colours come on a terminal only, and not under NO_COLOR', async () => {
    const csi = '\u001b[';
    const run = ['run', 'Where is order O-104?', '--trust-project'];
    expect((await bridle(run, at(shop))).stderr).not.toContain(csi);
    expect((await bridle(run, at(shop, { types: [] }))).stderr).toContain(csi);
    expect((await bridle(run, at(shop, { types: [], env: { NO_COLOR: '1' } }))).stderr).not.toContain(csi);
  });

  test('an unreachable model is an error with its address, not a stack trace', async () => {
    const args = ['run', 'hello', '--model', 'openai:x@http://127.0.0.1:9/v1'];
    const { status, stdout, stderr } = await bridle(args, at(home));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('127.0.0.1:9');
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe('bridle trace', () => {
  test('shows a run call by call, with decisions and facts, and lists it', async () => {
    const here = at(shop, { types: ['y', 'y', 'y', 'y'] });
    await bridle(['run', 'Please refund order O-104.'], here);
    const list = await bridle(['trace', 'list'], { ...here, types: [] });
    expect(list.stdout).toMatch(/answered\s+4 calls\s+offline\s+Please refund order O-104\./);
    const { stdout } = await bridle(['trace', 'show'], { cwd: home, env: here.env });
    expect(stdout).toContain('→ mcp__shop__refund_transaction {"transaction_id":"TX-88"}');
    expect(stdout).toContain('facts from mcp__shop__get_transaction');
    expect(stdout).toMatch(/bridle\.json:\d/);
    expect(stdout).toContain('allowed by terminal');
    const lines = (await bridle(['trace', 'show', '--json'], { cwd: home, env: here.env })).stdout.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { v: number }).v)).toEqual(lines.map(() => 1));
  });

  test('says so when there is no run yet, and when the run is unknown', async () => {
    expect((await bridle(['trace', 'list'], at(home))).stdout).toContain('No runs in');
    const { status, stderr } = await bridle(['trace', 'show', 'x'], at(home));
    expect(stderr).toContain("There is no run 'x'.");
    expect(status).toBe(1);
  });
});

describe('bridle tools list and explain', () => {
  test('where no server is configured, it says where one would stand, and so does a run', async () => {
    const empty = await mkdtemp(join(home, 'empty-'));
    const { status, stdout } = await bridle(['tools', 'list'], at(empty));
    expect(stdout).toMatch(/^No tools\. No server is configured in .*empty-.*\.mcp\.json/);
    expect(status).toBe(0);
    expect((await bridle(['run', 'hello'], at(empty))).stderr).toContain('No server is configured in');
    expect((await bridle(['run', 'hello', '--quiet'], at(empty))).stderr).toBe('');
    // One that waits for trust is another matter.
    expect((await bridle(['tools', 'list'], at(shop, { types: ['n'] }))).stdout).toBe('No tools.\n');
  });

  test('in a terminal each tool is one line of it', async () => {
    const narrow = at(shop, { types: [], columns: 70 });
    const { stdout } = await bridle(['tools', 'list', '--trust-project'], narrow);
    const rows = stdout.trimEnd().split('\n');
    expect(rows.map((row) => row.length <= 70 && row.endsWith('…'))).toEqual([true, true, true]);
  });

  test('--json lists each tool with its server, decision and schema', async () => {
    const { stdout } = await bridle(['tools', 'list', '--trust-project', '--json'], at(shop));
    const listing = JSON.parse(stdout) as { tools: { name: string; decision: string; inputSchema: object }[] };
    expect(listing.tools.map(({ name, decision }) => [name, decision])).toEqual([
      ['mcp__shop__get_order', 'allow'],
      ['mcp__shop__get_transaction', 'allow'],
      ['mcp__shop__refund_transaction', 'ask'],
    ]);
    expect(listing.tools[0]?.inputSchema).toMatchObject({ type: 'object', required: ['order_id'] });
  });

  test('--strict says which tools the API can hold a model to, and explain by which steps', async () => {
    const { stdout } = await bridle(['tools', 'list', '--trust-project', '--strict'], at(shop));
    expect(stdout).toContain('With strict "auto" 3 of 3 tools are strict (a request takes 20)');
    const explained = await bridle(['explain', 'mcp__shop__get_order', '--trust-project'], at(shop));
    expect(explained.stdout).toContain('strict: It is strict with "auto": ');
    const { stdout: json } = await bridle(['explain', 'mcp__shop__get_order', '--trust-project', '--json'], at(shop));
    expect(JSON.parse(json).strict).toMatchObject({ strictness: 'strict', needs: { unions: 0 } });
  });

  test('explain names the rule with its file and line', async () => {
    const { stdout } = await bridle(['explain', 'mcp__shop__refund_transaction', '--trust-project'], at(shop));
    expect(stdout).toContain('mcp__shop__refund_transaction');
    expect(stdout).toMatch(/bridle\.json:\d/);
  });

  test('explain of an unknown tool suggests the nearest name and ends with status 1', async () => {
    const { status, stdout } = await bridle(['explain', 'refund_transactoin', '--trust-project'], at(shop));
    expect(stdout).toContain('Did you mean "mcp__shop__refund_transaction"?');
    expect(status).toBe(1);
  });
});
