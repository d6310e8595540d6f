/** Who sees and calls what: one decision for the list and the call, by the key alone. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { approvals } from '../../src/policy/index.ts';
import { memoryStore } from '../../src/store/index.ts';
import { PARTS, REVISIONS, server, textOf, type World, world } from './world.ts';

const inbox = approvals({ store: memoryStore(), key: new Uint8Array(32), place: '/' });
let at: World;

beforeAll(async () => {
  at = await world(
    [server('one', [PARTS]), server('two', [PARTS])],
    {
      reader: { allow: ['mcp__one__counts'], content: ['one'] },
      writer: { allow: ['mcp__two'], deny: ['mcp__two__touch'], ask: ['mcp__one__finish'] },
      'asks-2025-11-25': { ask: ['mcp__one__finish'] },
      'asks-2026-07-28': { ask: ['mcp__one__finish'] },
      nobody: {},
      slow: { allow: ['mcp__one__waits', 'mcp__one__waiting', 'mcp__one__finish'], limits: { concurrentCalls: 1 } },
      rare: { allow: ['mcp__one__counts'], limits: { callsPerMinute: 2 } },
    },
    { asker: inbox.asker({ waitMs: 0 }) },
  );
}, 600_000);
afterAll(() => at.close());

const failure = (result: unknown) => JSON.parse(textOf(result)) as Record<string, unknown>;

describe.each(REVISIONS)('a client of %s', (revision) => {
  const namesFor = async (agent: string) =>
    (await (await at.client(agent, revision)).listTools()).tools.map(({ name }) => name);

  test('sees the tools that its own rules name, and no others', async () => {
    expect(await namesFor('reader')).toEqual(['mcp__one__counts']);
    const writer = await namesFor('writer');
    expect(writer).toContain('mcp__two__counts');
    expect(writer).toContain('mcp__one__finish');
    expect(writer).not.toContain('mcp__two__touch');
    expect(writer.filter((name) => name.startsWith('mcp__one__'))).toHaveLength(1);
    expect(await namesFor('nobody')).toEqual([]);
  });

  test('is answered word for word the same for a tool that is hidden, denied or not there', async () => {
    const one = await at.client('writer', revision);
    const messages = await Promise.all(
      ['mcp__one__counts', 'mcp__two__touch', 'mcp__none__counts'].map(async (name) => {
        const said = await one.callTool({ name, arguments: {} }).catch((error: Error) => error);
        return said instanceof Error ? said.message.replaceAll(name, 'NAME') : said;
      }),
    );
    expect(new Set(messages).size).toBe(1);
    expect(messages[0]).toContain('Unknown tool: NAME');
  });

  test('sees resources and prompts of the servers that it was given, and none of another', async () => {
    const reader = await at.client('reader', revision);
    expect((await reader.listResources()).resources.map(({ uri }) => uri)).toEqual([
      'bridle://gateway/status',
      'notes://one',
    ]);
    expect((await reader.listPrompts()).prompts.map(({ name }) => name)).toEqual(['mcp__one__greet']);
    const writer = await at.client('writer', revision);
    expect((await writer.listResources()).resources.map(({ uri }) => uri)).toEqual(['bridle://gateway/status']);
    await expect(writer.readResource({ uri: 'notes://one' })).rejects.toThrow('There is no resource');
  });

  test('reads how its own servers stand, and nothing of the others', async () => {
    const reader = await at.client('reader', revision);
    const { contents } = await reader.readResource({ uri: 'bridle://gateway/status' });
    const [{ text = '' } = {}] = contents as { text?: string }[];
    expect(JSON.parse(text)).toEqual({ servers: [{ server: 'one', state: 'ready', tools: 8 }] });
  });

  test('is answered at once with the number of an approval, and the same call runs after it', async () => {
    const one = await at.client(`asks-${revision}`, revision);
    const call = () => one.callTool({ name: 'mcp__one__finish', arguments: {} });
    const parked = await call();
    expect(parked.isError).toBe(true);
    const { approval } = failure(parked);
    expect(textOf(parked)).toContain(`approval ${String(approval)}`);
    // Asking again makes no second approval.
    expect(failure(await call()).approval).toBe(approval);
    await inbox.approve(String(approval), { by: 'somebody' });
    expect(textOf(await call())).toBe('ok');
    // Once is once.
    const { approval: next } = failure(await call());
    expect(next).not.toBe(approval);
    await inbox.deny(String(next), { by: 'somebody' });
    expect(textOf(await call())).toContain('somebody');
  });

  test('has no more calls under way than it may have, and is told so', async () => {
    const one = await at.client('slow', revision);
    const stop = new AbortController();
    const waits = one.callTool({ name: 'mcp__one__waits', arguments: {} }, { signal: stop.signal }).catch(() => 'over');
    await expect.poll(() => at.gateway.status().calls.underWay, { timeout: 60_000 }).toBe(1);
    const refused = await one.callTool({ name: 'mcp__one__finish', arguments: {} });
    expect(failure(refused)).toMatchObject({ errorCategory: 'transient', isRetryable: true, outcome: 'not_executed' });
    expect(textOf(refused)).toContain('as many as it may have at once');
    stop.abort();
    expect(await waits).toBe('over');
    await expect.poll(() => at.gateway.status().calls.underWay, { timeout: 60_000 }).toBe(0);
  });
});

test('who sends no key, or one that nobody has, is told nothing', async () => {
  for (const authorization of [undefined, 'Bearer', 'Bearer nobody-at-all', 'Basic cmVhZGVy', 'reader']) {
    const answer = await fetch(at.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(await answer.text()).not.toContain('reader');
  }
});

test('an agent makes as many calls within a minute as it may make', async () => {
  const one = await at.client('rare', '2026-07-28');
  const results = [];
  for (let nth = 0; nth < 3; nth += 1) results.push(await one.callTool({ name: 'mcp__one__counts', arguments: {} }));
  expect(results.map(({ isError }) => isError === true)).toEqual([false, false, true]);
  expect(textOf(results[2])).toMatch(/Make the call again in \d+ seconds/);
});

test('an agent is told that a server failed, and not where it is', async () => {
  const dead = await world(
    [server('gone', ['-e', 'console.error("secret-place"); process.exit(3)']), server('one', [PARTS])],
    {
      a: { allow: ['mcp__gone', 'mcp__one'], content: 'all' },
    },
  );
  try {
    const one = await dead.client('a', '2026-07-28');
    const { contents } = await one.readResource({ uri: 'bridle://gateway/status' });
    expect(JSON.stringify(contents)).toContain('It could not be listed');
    expect(JSON.stringify(contents)).not.toContain('secret-place');
    expect(JSON.stringify(dead.gateway.problems())).toContain('secret-place');
    const failed = await one.callTool({ name: 'mcp__one__form', arguments: { no: 'such' } });
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).not.toContain('fixture-server');
  } finally {
    await dead.close();
  }
});
