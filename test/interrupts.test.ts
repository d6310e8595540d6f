import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answerJson, type LoopbackServer, loopbackServer } from './fixtures/loopback-server.ts';
import { type ChatModel, chatModel } from './helpers/chat-model.ts';
import {
  alive,
  atTerminal,
  type Ended,
  type Person,
  person,
  type Started,
  startBridle,
  stillAlive,
} from './helpers/cli-process.ts';
import { eventually } from './helpers/mcp.ts';

const TRUST = '--trust-project';
const ALLOW = ['--allow', 'mcp__odd__*'];
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

let at: Person;
const models: LoopbackServer[] = [];
const started: Started[] = [];

beforeEach(async () => {
  at = await person();
});
afterEach(async () => {
  for (const { child } of started.splice(0)) child.kill('SIGKILL');
  await Promise.all(models.splice(0).map((model) => model.close()));
  await at.remove();
});

function start(args: readonly string[]): Started {
  const bridle = startBridle(args, at);
  started.push(bridle);
  return bridle;
}

/** A model that asks for one call. */
async function calling(name: string): Promise<ChatModel> {
  const model = await chatModel([[{ name, args: '{}' }], 'Done.']);
  models.push(model);
  return model;
}

const servers = {
  hanging: () => at.servers({ odd: at.fixture('scripted.mjs', ['--start=hang']), good: at.fixture('misfits.mjs') }),
  good: (...args: string[]) => at.servers({ odd: at.fixture('misfits.mjs', [...args, `--log=${log()}`]) }),
};

const log = () => join(at.cwd, 'received');

/** Waits until the server has got a request of this method. */
async function received(method: string): Promise<void> {
  const known = () => existsSync(log()) && readFileSync(log(), 'utf8').includes(method);
  expect(await eventually(known)).toBe(true);
}

async function serverStarted(bridle: Started): Promise<void> {
  if (!(await eventually(() => alive(at).length > 0))) throw new Error(`No server was started.\n${await bridle.ended}`);
}

/** What holds after every stop in order: the status, a word about it, nothing left behind, nothing thrown. */
async function expectStopped({ ended }: Started, signal: NodeJS.Signals): Promise<Ended> {
  const { status, stdout, stderr } = await ended;
  expect(stdout + stderr).toContain(`stopping (${signal})`);
  expect(stdout + stderr).not.toMatch(/\n\s+at .*[:(]\d+|error \(/);
  expect(alive(at)).toEqual([]);
  expect(status).toBe(130);
  return { status, stdout, stderr };
}

async function expectTraceAborted(): Promise<void> {
  const [trace = [], ...others] = await at.traces();
  expect(others).toEqual([]);
  expect(trace.some(({ type }) => type === 'abort')).toBe(true);
  expect(trace.at(-1)).toMatchObject({ type: 'end', how: 'aborted' });
}

describe.each(SIGNALS)('%s', (signal) => {
  test('while a server hangs at its start ends a run as aborted, in its trace too', async () => {
    await servers.hanging();
    const bridle = start(['run', 'hello', TRUST]);
    await serverStarted(bridle);
    bridle.child.kill(signal);
    const { stdout, stderr } = await expectStopped(bridle, signal);
    expect(stdout).toBe('');
    expect(stderr).toContain('ended: aborted');
    expect(stderr).not.toContain('warning:');
    await expectTraceAborted();
  });

  test.each([
    ['tools', 'list'],
    ['explain', 'mcp__good__whole'],
  ])('while a server hangs at its start ends bridle %s %s, which prints no half list', async (...args) => {
    await servers.hanging();
    const bridle = start([...args, TRUST]);
    await serverStarted(bridle);
    bridle.child.kill(signal);
    expect((await expectStopped(bridle, signal)).stdout).toBe('');
  });

  test('while the tools are listed ends the run', async () => {
    await servers.good('--list=silent');
    const bridle = start(['run', 'hello', TRUST]);
    await received('tools/list');
    bridle.child.kill(signal);
    await expectStopped(bridle, signal);
    await expectTraceAborted();
  });

  test('in a call cancels the call, and the trace says that it may have taken effect', async () => {
    await servers.good();
    const { spec } = await calling('mcp__odd__wait');
    const bridle = start(['run', 'Play.', TRUST, '--model', spec, ...ALLOW]);
    await received('tools/call');
    bridle.child.kill(signal);
    const { stderr } = await expectStopped(bridle, signal);
    expect(stderr).toContain('cancelled');
    await expectTraceAborted();
    const call = (await at.traces())[0]?.find(({ type }) => type === 'call');
    expect(call).toMatchObject({
      call: { name: 'mcp__odd__wait', outcome: { kind: 'cancelled', failure: { executed: 'unknown' } } },
    });
  });

  test('while a question stands at the terminal runs nothing', async () => {
    await servers.good();
    const { spec } = await calling('mcp__odd__whole');
    const bridle = atTerminal(['run', 'Play.', TRUST, '--model', spec], { ...at, env: { ...at.env, NO_COLOR: '1' } });
    started.push(bridle);
    await bridle.said(/\[y\/n\] $/);
    if (signal === 'SIGINT') bridle.interrupt();
    else bridle.signal(signal);
    await expectStopped(bridle, signal);
    await expectTraceAborted();
    const trace = (await at.traces())[0] ?? [];
    expect(trace.filter(({ type }) => type === 'decided')).toEqual([]);
    expect(trace.find(({ type }) => type === 'call')).toMatchObject({
      call: { name: 'mcp__odd__whole', outcome: { kind: 'cancelled', failure: { executed: 'not_executed' } } },
    });
  });

  test('while a folder waits to be trusted starts nothing', async () => {
    await servers.good();
    const bridle = atTerminal(['tools', 'list'], { ...at, env: { ...at.env, NO_COLOR: '1' } });
    started.push(bridle);
    await bridle.said(/Trust this folder\?.*\[y\/N\] $/);
    if (signal === 'SIGINT') bridle.interrupt();
    else bridle.signal(signal);
    const { stdout } = await expectStopped(bridle, signal);
    expect(stdout).not.toContain('mcp__odd__whole');
  });

  test('while the model is waited for ends the run', async () => {
    await servers.good();
    const model = await loopbackServer(() => {});
    models.push(model);
    const bridle = start(['run', 'Play.', TRUST, '--model', `openai:x@${model.url}/v1`]);
    expect(await eventually(() => model.requests.length > 0)).toBe(true);
    bridle.child.kill(signal);
    const { stdout, stderr } = await expectStopped(bridle, signal);
    expect(stdout).toBe('');
    expect(stderr).toContain('ended: aborted');
    await expectTraceAborted();
  });

  test('while a busy model is waited for does not wait any longer, and the JSON says so', async () => {
    await servers.good();
    const model = await loopbackServer(answerJson(529, { error: { message: 'overloaded' } }, { 'retry-after': '60' }));
    models.push(model);
    const bridle = start(['run', 'Play.', TRUST, '--model', `openai:x@${model.url}/v1`, '--json']);
    await bridle.said(/waiting 60/);
    bridle.child.kill(signal);
    const { stdout } = await expectStopped(bridle, signal);
    expect(JSON.parse(stdout)).toMatchObject({ end: 'aborted', calls: 0 });
    await expectTraceAborted();
  });

  test('twice in a row does not wait for a server that ignores its end, and leaves it not alive', async () => {
    await at.servers({ odd: at.fixture('scripted.mjs', ['--deaf']) });
    const { spec } = await calling('mcp__odd__wait');
    const bridle = start(['run', 'Play.', TRUST, '--model', spec, ...ALLOW]);
    await bridle.said(/→ mcp__odd__wait/);
    bridle.child.kill(signal);
    await bridle.said(/stopping .*once more to stop at once/);
    bridle.child.kill(signal);
    const { status } = await bridle.ended;
    expect(status).toBe(130);
    expect(await stillAlive(at)).toEqual([]);
  });
});

describe('kill -9', () => {
  test('while a server hangs at its start leaves no child for more than five seconds', async () => {
    await at.servers({ odd: at.fixture('scripted.mjs', ['--start=hang', '--deaf']), good: at.fixture('misfits.mjs') });
    const bridle = start(['tools', 'list', TRUST]);
    expect(await eventually(() => alive(at).length === 2)).toBe(true);
    bridle.child.kill('SIGKILL');
    expect((await bridle.ended).status).toBeNull();
    expect(await stillAlive(at)).toEqual([]);
  });

  test('in a call does so too, and what the trace has can be shown', async () => {
    await at.servers({ odd: at.fixture('misfits.mjs'), deaf: at.fixture('scripted.mjs', ['--deaf']) });
    const { spec } = await calling('mcp__odd__wait');
    const bridle = start(['run', 'Play.', TRUST, '--model', spec, ...ALLOW]);
    await bridle.said(/→ mcp__odd__wait/);
    expect(alive(at)).toHaveLength(2);
    bridle.child.kill('SIGKILL');
    expect((await bridle.ended).status).toBeNull();
    expect(await stillAlive(at)).toEqual([]);
    const shown = await start(['trace', 'list']).ended;
    expect(shown.stdout).toContain('broke off or running');
    expect((await start(['trace', 'show']).ended).status).toBe(0);
  });
});
