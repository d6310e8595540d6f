import { describe, expect, test } from 'vitest';
import { createCatalog } from '../../catalog/index.ts';
import { contentSource, defineResource, defineResourceTemplate } from '../../content/index.ts';
import type { JsonObject, ServerRef } from '../../contracts/index.ts';
import { createDispatcher, memoryRecorder, refuseAsker } from '../../dispatch/index.ts';
import { compilePolicy } from '../../policy/index.ts';
import { rawFrom } from '../../tools/index.ts';
import { WHO } from './fixtures.ts';
import { resourceTools } from './resource-tools.ts';

const server = (key: string): ServerRef => ({ key, scope: 'project', fingerprint: key, trustAnnotations: false });
const resource = (nth: number) =>
  defineResource({ uri: `docs://${nth}`, name: `doc ${nth}`, mimeType: 'text/plain', read: () => `Text ${nth}.` });

async function agentOf(permissions: { allow?: string[]; deny?: string[] }) {
  let resources = [resource(0)];
  const docs = contentSource({
    server: server('docs'),
    resources: () => resources,
    templates: [defineResourceTemplate({ uriTemplate: 'docs://t/{id}', name: 't', read: ({ id }) => `T ${id}` })],
  });
  const none = contentSource({ server: server('none') });
  const { policy } = compilePolicy([{ scope: 'user', file: 'a', trusted: true, permissions }], {});
  const catalog = createCatalog({ sources: [resourceTools(docs), resourceTools(none)], policy });
  await catalog.refresh();
  const recorder = memoryRecorder();
  const dispatcher = createDispatcher({ find: catalog.find, policy, asker: refuseAsker(), recorder });
  const call = (name: string, args: JsonObject) =>
    dispatcher.call({
      name,
      args: rawFrom(args),
      profile: 'agent',
      conversation: 'c',
      ctx: { callId: `${name}`, who: WHO, signal: new AbortController().signal, idleMs: 60_000, hardMs: 60_000 },
    });
  return {
    names: () => catalog.list(WHO).map(({ ref }) => ref.name),
    call,
    recorder,
    grow: (count: number) => {
      resources = Array.from({ length: count }, (_, nth) => resource(nth));
    },
  };
}

describe('the tools that read resources', () => {
  test('are there for servers that have resources, under the server’s own name', async () => {
    const { names } = await agentOf({});
    expect(names()).toEqual(['mcp__docs__list_resources', 'mcp__docs__read_resource']);
  });

  test('a rule hides or allows them as any tool of that server', async () => {
    expect((await agentOf({ deny: ['mcp__docs__read_resource'] })).names()).toEqual(['mcp__docs__list_resources']);
    expect((await agentOf({ deny: ['mcp__docs'] })).names()).toEqual([]);
    const { call } = await agentOf({ allow: ['mcp__docs__list_resources'] });
    expect((await call('mcp__docs__read_resource', { uri: 'docs://0' })).kind).toBe('denied');
  });

  test('list and read, and every call is recorded', async () => {
    const { call, recorder, grow } = await agentOf({ allow: ['mcp__docs__*'] });
    const listed = await call('mcp__docs__list_resources', {});
    expect(listed).toMatchObject({ kind: 'ok' });
    expect(listed.kind === 'ok' && JSON.parse(String(listed.content))).toEqual({
      resources: [{ uri: 'docs://0', name: 'doc 0', mime_type: 'text/plain' }],
      templates: [{ uri_template: 'docs://t/{id}', name: 't' }],
    });
    expect(await call('mcp__docs__read_resource', { uri: 'docs://t/5' })).toMatchObject({
      kind: 'ok',
      content: '[resource: uri "docs://t/5"]\nT 5',
    });
    expect(await call('mcp__docs__read_resource', { uri: 'docs://nothing' })).toMatchObject({ kind: 'failed' });
    expect(await call('mcp__docs__read_resource', {})).toMatchObject({ kind: 'invalid' });
    grow(150);
    const second = await call('mcp__docs__list_resources', { offset: 100 });
    expect(second.kind === 'ok' && JSON.parse(String(second.content)).resources).toHaveLength(50);
    expect(recorder.outcomes.map(({ name }) => name)).toHaveLength(5);
  });
});
