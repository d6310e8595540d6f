/** What a client is asked and told through the gateway, whichever revision it and the server behind speak. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixture } from '../helpers/mcp.ts';
import { PARTS, REVISIONS, server, textOf, type World, world } from './world.ts';

const ALL = { sampling: {}, roots: {}, elicitation: { form: {}, url: {} } };
let at: World;

beforeAll(async () => {
  at = await world(
    [
      server('older', [PARTS], { era: 'legacy' }),
      server('newer', [PARTS], { era: 'modern' }),
      server('sdk1', [fixture('sdk-v1.mjs')]),
      server('sdk2', [fixture('sdk-v2.mjs'), '--modern-only', '--asks']),
    ],
    { all: { allow: ['mcp__older', 'mcp__newer', 'mcp__sdk1', 'mcp__sdk2'], content: 'all' } },
  );
}, 600_000);
afterAll(() => at.close());

const cells = REVISIONS.flatMap((revision) => (['older', 'newer'] as const).map((key) => ({ revision, key })));

async function asked(revision: (typeof REVISIONS)[number], capabilities: object = ALL) {
  const one = await at.client('all', revision, capabilities);
  let nth = 0;
  if ('sampling' in capabilities) {
    one.setRequestHandler('sampling/createMessage', () => ({
      role: 'assistant',
      content: { type: 'text', text: 'Hm.' },
      model: 'm',
    }));
  }
  if ('roots' in capabilities) one.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///client' }] }));
  if ('elicitation' in capabilities) {
    one.setRequestHandler('elicitation/create', ({ params }) => {
      if (params.mode === 'url') return { action: 'accept' };
      if (params.message === 'Your name?') return { action: 'accept', content: { name: 'Ada' } };
      nth += 1;
      return { action: 'accept', content: { part: `answer ${nth}` } };
    });
  }
  return one;
}

describe.each(cells)('a client of $revision in front of a server that is $key', ({ revision, key }) => {
  test('is asked for its model, its folders, a form and a visit in one call', async () => {
    const one = await asked(revision);
    const result = await one.callTool({ name: `mcp__${key}__everything`, arguments: {} });
    expect(textOf(result)).toBe('{"type":"text","text":"Hm."} file:///client answer 1 accept');
  });

  test('is asked one thing after the other, and the call stays one', async () => {
    const one = await asked(revision);
    const result = await one.callTool({ name: `mcp__${key}__twice`, arguments: { a: 1 } });
    expect(textOf(result)).toBe('answer 1 and answer 2');
  });

  test('is not asked for what it never said that it answers', async () => {
    const one = await asked(revision, { roots: {} });
    const result = one.callTool({ name: `mcp__${key}__form`, arguments: {} });
    // A server of the newest revision says what would have to be declared, and so does the gateway to a client of it.
    if (key === 'newer' && revision === '2026-07-28') {
      await expect(result).rejects.toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: {} } } });
    } else {
      expect(textOf(await result)).toMatch(key === 'older' ? /^(cancel|decline)$/ : /the client did not declare/);
    }
    expect(at.gateway.status().waiting).toBe(0);
  });

  test('hears of progress, with the token that it gave', async () => {
    const one = await asked(revision);
    const heard: unknown[] = [];
    const options = { onprogress: (progress: unknown) => void heard.push(progress) };
    await one.callTool({ name: `mcp__${key}__counts`, arguments: {} }, options);
    expect(heard).toMatchObject([{ progress: 1 }, { progress: 2 }, { progress: 3, total: 3, message: 'step 3' }]);
  });

  test('cancels a call, and the server behind learns of it', async () => {
    const one = await asked(revision);
    const other = await asked(revision);
    const stop = new AbortController();
    const waits = one.callTool({ name: `mcp__${key}__waits`, arguments: {} }, { signal: stop.signal });
    const ended = waits.then(
      () => 'ended',
      () => 'cancelled',
    );
    await other.callTool({ name: `mcp__${key}__waiting`, arguments: {} });
    const before = at.gateway.status().calls.underWay;
    expect(before).toBe(1);
    stop.abort();
    expect(await ended).toBe('cancelled');
    // It is over at once, though nobody calls `finish`.
    await expect.poll(() => at.gateway.status().calls.underWay, { timeout: 60_000 }).toBe(0);
  });

  test('reads resources and prompts, and has values completed', async () => {
    const one = await asked(revision);
    const { resources } = await one.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('notes://one');
    expect((await one.readResource({ uri: 'notes://by/ada' })).contents).toMatchObject([{ text: 'by ada' }]);
    const prompt = await one.getPrompt({ name: `mcp__${key}__greet`, arguments: { who: 'Ada' } });
    expect(prompt.messages).toMatchObject([{ content: { text: 'Greet Ada.' } }]);
    const ref = { type: 'ref/resource', uri: 'notes://by/{name}' } as const;
    const { completion } = await one.complete({ ref, argument: { name: 'name', value: 'a' } });
    expect(completion.values).toEqual(['ada', 'bob']);
  });
});

describe.each(REVISIONS)('a client of %s in front of servers of the official SDKs', (revision) => {
  test.each(['sdk1', 'sdk2'])('answers what %s asks', async (key) => {
    const one = await asked(revision);
    expect(await one.callTool({ name: `mcp__${key}__add`, arguments: { a: 1, b: 2 } })).toMatchObject({
      structuredContent: { sum: 3 },
    });
    expect(textOf(await one.callTool({ name: `mcp__${key}__who`, arguments: {} }))).toContain('"name":"Ada"');
    expect(textOf(await one.callTool({ name: `mcp__${key}__model`, arguments: {} }))).toContain('Hm.');
  });
});
