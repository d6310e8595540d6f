import { describe, expect, test } from 'vitest';
import type { SourceReadiness } from '../catalog/index.ts';
import type { Json, JsonObject, Policy, ServerRef, Source, ToolListing } from '../contracts/index.ts';
import { compilePolicy } from '../policy/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool, functionSource, isHarnessNote } from '../tools/index.ts';
import { createAgent } from './create-agent.ts';
import { readinessNews, visibleSources } from './readiness.ts';

const AT = Date.UTC(2026, 10, 30, 14, 3, 5);
const ref = (key: string): ServerRef => ({ key, scope: 'project', fingerprint: key, trustAnnotations: false });
const source = (key: string, state: SourceReadiness['state']): SourceReadiness => ({
  server: ref(key),
  state,
  since: AT,
});

describe('what the model is told of servers', () => {
  test('which are missing and since when, each once, and that they have come', () => {
    const first = readinessNews(new Map(), [source('slow', 'waiting'), source('dead', 'failed'), source('a', 'ready')]);
    expect(first.note).toMatch(/"slow" is still starting \(since 2026-11-30T14:03:05.000Z\)/);
    expect(first.note).toMatch(/"dead" could not be used \(since 2026-11-30T14:03:05.000Z\)/);
    expect(first.note).not.toContain('"a"');
    expect(isHarnessNote(first.note ?? '')).toBe(true);
    expect(readinessNews(first.told, [source('slow', 'waiting'), source('dead', 'failed')]).note).toBeNull();
    const later = readinessNews(first.told, [source('slow', 'ready'), source('dead', 'failed')]);
    expect(later.note).toMatch(/"slow" is ready now .* end of the list/);
    expect(later.note).not.toContain('"dead"');
    expect(readinessNews(later.told, [source('slow', 'ready'), source('dead', 'failed')]).note).toBeNull();
  });

  test('nothing where everything is there', () => {
    expect(
      readinessNews(new Map(), [source('a', 'ready'), { server: null, state: 'waiting', since: AT }]).note,
    ).toBeNull();
  });

  test('nothing of a server whose every tool is hidden from it; a plan mode hides none', () => {
    const all = [source('secret', 'failed'), source('open', 'failed')];
    const rules = { deny: ['mcp__secret__*'] };
    const seen = (policy: Policy) => visibleSources(all, policy, { agent: 'x', via: 'library' });
    const layers = [{ name: 'rules', permissions: rules }] as unknown as Parameters<typeof compilePolicy>[0];
    expect(seen(compilePolicy(layers, {}).policy).map(({ server }) => server?.key)).toEqual(['open']);
    expect(seen(compilePolicy([], { mode: 'plan' }).policy)).toHaveLength(2);
    const view = () => {
      throw new Error('broken');
    };
    expect(seen({ view, decide: view })).toEqual([]);
  });
});

describe('an agent whose server is slow', () => {
  const look = defineTool(
    { name: 'look', description: 'Looks.', input: { type: 'object' }, annotations: { readOnlyHint: true } },
    () => 'seen',
  );

  test('begins without it, says so, and has its tools at the end once they are there', async () => {
    let arrive: (listing: ToolListing) => void = () => {};
    const own = functionSource([look]);
    const [definition] = (await own.list(new AbortController().signal)).tools;
    if (!definition) throw new Error('It lists its tool.');
    const late = { ...definition, ref: { ...definition.ref, server: ref('slow'), name: 'mcp__slow__look' } };
    const slow: Source = {
      server: ref('slow'),
      list: () => new Promise((resolve) => (arrive = resolve)),
      call: own.call,
      onChange: () => () => {},
    };
    const events: Json[] = [];
    const model = scriptedModel([{ calls: [{ name: 'look', input: {} }] }, 'Done.', 'Again.']);
    const agent = await createAgent({
      model,
      tools: [
        defineTool(
          { name: 'look', description: 'Looks.', input: { type: 'object' }, annotations: { readOnlyHint: true } },
          async () => {
            const there = new Promise<void>((resolve) => agent.catalog.onChange(resolve));
            arrive({ tools: [late], setAside: [] });
            await there;
            return 'seen';
          },
        ),
      ],
      sources: [slow],
      permissions: { allow: ['look'] },
      ready: { ms: 600_000, enough: AbortSignal.abort() },
    });
    // The tools of this process are listed within the same turn of the event loop or a later one.
    while (agent.tools().length === 0) await new Promise((resolve) => setImmediate(resolve));
    const first = await agent.run('Look.', { onProgress: (event) => events.push(event.type) }).result;
    expect(first.end).toBe('answered');
    const requests = model.requests as readonly JsonObject[];
    const [before, after] = requests.map(({ tools, messages }) => ({
      tools: (tools as { name: string }[]).map(({ name }) => name),
      notes: notesIn(messages as Json[]),
    }));
    expect(before?.tools).toEqual(['look']);
    expect(before?.notes).toMatchObject([expect.stringMatching(/"slow" is still starting/)]);
    expect(after?.tools).toEqual(['look', 'mcp__slow__look']);
    expect(after?.notes).toMatchObject([expect.anything(), expect.stringMatching(/"slow" is ready now/)]);
    const again = await agent.run('Again.', { messages: first.messages, conversation: first.conversation }).result;
    expect(notesIn(again.messages)).toHaveLength(2);
    await agent.close();
  });
});

function notesIn(messages: readonly Json[]): readonly string[] {
  return (messages as readonly JsonObject[])
    .flatMap(({ content }) => (Array.isArray(content) ? content : [content]))
    .flatMap((block) => {
      const text = typeof block === 'string' ? block : (block as JsonObject).text;
      return typeof text === 'string' && isHarnessNote(text) ? [text] : [];
    });
}
