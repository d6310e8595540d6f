import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAgent } from '../src/agent/index.ts';
import type { Json, JsonObject, TraceEvent } from '../src/contracts/index.ts';
import { createTrace, readTrace } from '../src/dispatch/index.ts';
import { closeAll, connectStdio, mcpSource } from '../src/mcp/client/index.ts';
import { traceValues } from '../src/models/offline/index.ts';
import { outcomeToToolResult } from '../src/tools/index.ts';
import { alive, type Ended, type Person, person, runBridle } from './helpers/cli-process.ts';
import { fixture, node, published } from './helpers/mcp.ts';

/** A run as its trace tells it, with the tools that the planner had. */
interface Journal {
  readonly events: readonly TraceEvent[];
  readonly tools: JsonObject[];
}

const journals: Journal[] = [];

/** What was passed in a run, call by call. */
function callsOf({ events }: Journal): { readonly name: string; readonly args: Json }[] {
  return events.flatMap((event) => (event.type === 'intent' ? [{ name: event.name, args: event.args }] : []));
}

/** The origin of every value of every call, each looked for in the conversation as it stood before the call. */
function originsOf({ events, tools }: Journal) {
  const messages: JsonObject[] = [];
  const results: Json[] = [];
  let before: Json[] = [];
  return events.flatMap((event) => {
    if (event.type === 'input') messages.push({ role: 'user', content: event.content });
    if (event.type === 'model') {
      if (results.length > 0) messages.push({ role: 'user', content: results.splice(0) });
      before = [...messages];
      messages.push({ role: 'assistant', content: (event.message as JsonObject).content ?? [] });
    }
    if (event.type === 'outcome') results.push(outcomeToToolResult(event.callId, event.outcome));
    if (event.type !== 'intent') return [];
    const { name, args } = event;
    return traceValues({ messages: before, tools }, { name, input: args }).map((value) => ({ name, ...value }));
  });
}

let at: Person;

interface Played extends Ended {
  readonly journal: Journal;
}

beforeAll(async () => {
  at = await person();
});
afterAll(() => at.remove());

describe('with three published servers in one project and no rule for them, the offline planner', () => {
  let tools: JsonObject[];
  const played = new Map<string, Played>();
  const tasks = {
    file: 'Read the file notes.txt and quote its first line.',
    directory: '',
    create: 'Create an entity named "Grace Hopper" of type "person" with the observation "found a moth in a relay".',
    find: 'Find the entity "Grace Hopper".',
    add: 'Add 17 and 25.',
  };

  beforeAll(async () => {
    await writeFile(join(at.cwd, 'notes.txt'), 'Herons hunt at dusk.\nOtters hunt at dawn.\n');
    await mkdir(join(at.cwd, 'birds'));
    await writeFile(join(at.cwd, 'birds', 'heron.md'), '# Heron\n');
    tasks.directory = `List the directory ${join(at.cwd, 'birds')}.`;
    const server = (name: string, args: string[], env: Record<string, string> = {}) => ({
      command: process.execPath,
      args: [published(name), ...args],
      env,
    });
    await at.servers({
      filesystem: server('server-filesystem', [at.cwd]),
      memory: server('server-memory', [at.mark], { MEMORY_FILE_PATH: join(at.cwd, 'memory.jsonl') }),
      everything: server('server-everything', ['stdio', at.mark]),
    });
    const listed = await runBridle(['tools', 'list', '--trust-project', '--json'], at);
    const listing = JSON.parse(listed.stdout) as { tools: { name: string; description: string; inputSchema: Json }[] };
    tools = listing.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
    }));
    // One after the other: what is found was created by a run before.
    for (const [name, task] of Object.entries(tasks)) {
      const allow = ['filesystem', 'memory', 'everything'].flatMap((key) => ['--allow', `mcp__${key}__*`]);
      const ran = await runBridle(['run', task, '--trust-project', '--model', 'offline', ...allow], at);
      const journal = { events: (await at.traces()).at(-1) ?? [], tools };
      journals.push(journal);
      played.set(name, { ...ran, journal });
    }
  }, 120_000);

  const run = (name: keyof typeof tasks): Played & { readonly calls: ReturnType<typeof callsOf> } => {
    const found = played.get(name);
    if (!found) throw new Error(`The run "${name}" did not happen.`);
    return { ...found, calls: callsOf(found.journal) };
  };

  test('sees the tools of all three', () => {
    for (const key of ['filesystem', 'memory', 'everything']) {
      expect(tools.filter(({ name }) => String(name).startsWith(`mcp__${key}__`)).length).toBeGreaterThan(5);
    }
  });

  test('reads a named file and quotes its first line', () => {
    const { calls, stdout, status } = run('file');
    expect(calls).toEqual([{ name: expect.stringMatching(/^mcp__filesystem__read/), args: { path: 'notes.txt' } }]);
    expect(stdout).toContain('Herons hunt at dusk.');
    expect(stdout).not.toContain('Otters');
    expect(status).toBe(0);
  });

  test('lists a directory', () => {
    const { calls, stdout, status } = run('directory');
    expect(calls).toEqual([{ name: 'mcp__filesystem__list_directory', args: { path: join(at.cwd, 'birds') } }]);
    expect(stdout).toContain('heron.md');
    expect(status).toBe(0);
  });

  test('creates an entity', () => {
    const { calls, status } = run('create');
    const entity = { name: 'Grace Hopper', entityType: 'person', observations: ['found a moth in a relay'] };
    expect(calls).toEqual([{ name: 'mcp__memory__create_entities', args: { entities: [entity] } }]);
    expect(status).toBe(0);
  });

  test('finds it again in another run', () => {
    const { calls, stdout, status } = run('find');
    expect(calls).toEqual([
      { name: expect.stringMatching(/^mcp__memory__(search|open)_nodes$/), args: expect.anything() },
    ]);
    expect(stdout).toContain('Grace Hopper');
    expect(stdout).toContain('found a moth in a relay');
    expect(status).toBe(0);
  });

  test('adds two numbers', () => {
    const { calls, stdout, status } = run('add');
    expect(calls).toEqual([{ name: 'mcp__everything__get-sum', args: { a: 17, b: 25 } }]);
    expect(stdout).toContain('42');
    expect(status).toBe(0);
  });

  test('leaves no server behind', () => {
    expect(alive(at)).toEqual([]);
  });
});

describe('with servers built with the official SDK, the offline planner', () => {
  afterAll(closeAll);

  test.each([
    ['version 1', 'sdk-v1.mjs', [], '2025-11-25', /initialize/],
    ['version 2', 'sdk-v2.mjs', [], '2026-07-28', /server\/discover/],
    ['version 2, modern only', 'sdk-v2.mjs', ['--modern-only'], '2026-07-28', /server\/discover/],
  ])('adds two numbers on %s, in the era that was proven', async (version, file, args, revision, proof) => {
    const connection = connectStdio(node('sdk', [fixture(file), ...args, at.mark]), { probeMs: 20_000 });
    const run = version.replace(/\W+/g, '-');
    const dir = join(at.cwd, 'traces');
    const task = 'Add 17 and 25.';
    const trace = await createTrace({ dir, run, agent: 'agent', model: 'offline', task });
    const agent = await createAgent({
      model: 'offline',
      sources: [mcpSource(connection)],
      permissions: { allow: ['mcp__sdk__*'] },
      trace,
    });
    const { end, text } = await agent.run(task).result;
    await agent.close();
    await trace.close();
    const events: TraceEvent[] = [];
    for await (const event of readTrace(trace.path)) events.push(event);
    const tools = agent.tools().map(({ ref, description, inputSchema }) => ({
      name: ref.name,
      description,
      input_schema: inputSchema,
    }));
    const journal = { events, tools };
    journals.push(journal);
    expect(callsOf(journal)).toEqual([{ name: 'mcp__sdk__add', args: { a: 17, b: 25 } }]);
    expect(end).toBe('answered');
    expect(text).toContain('42');
    expect(connection.era).toMatchObject({ revision, provenBy: expect.stringMatching(proof) });
    expect(connection.counters.starts).toBe(1);
  });
});

describe('every value of every call in these runs', () => {
  test('comes from somewhere: the conversation, an earlier result, a default, a const or an enum', () => {
    expect(journals).toHaveLength(8);
    for (const journal of journals) {
      const origins = originsOf(journal);
      expect(origins.length).toBeGreaterThan(0);
      expect(origins.filter(({ source }) => source === 'unexplained')).toEqual([]);
    }
  });

  test('would be missed if it came from nowhere', () => {
    for (const { events, tools } of journals) {
      const bent = events.map((event) =>
        event.type === 'intent' ? { ...event, args: { ...(event.args as JsonObject), extra: 'zythum' } } : event,
      );
      const unexplained = originsOf({ events: bent, tools }).filter(({ source }) => source === 'unexplained');
      expect(unexplained.length).toBeGreaterThan(0);
      expect(unexplained.every(({ value }) => value === 'zythum')).toBe(true);
    }
  });
});
