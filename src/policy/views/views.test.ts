import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../contracts/index.ts';
import { rawFrom } from '../../tools/index.ts';
import { allowedAddress, readHost } from './allowed-address.ts';
import { applyView } from './apply-view.ts';
import { ADA, FETCH_SCHEMA, fetchTool, made } from './fixtures.ts';
import { keepResult } from './keep-result.ts';
import { parseView } from './parse-view.ts';
import { type ArgumentOptions, view } from './view.ts';

function over(args: Record<string, ArgumentOptions>, root?: string) {
  const one = view({ name: 'load', server: 'web', tool: 'fetch', arguments: args });
  return made(applyView(fetchTool(), one, root === undefined ? {} : { root }));
}

async function sent(args: Record<string, ArgumentOptions>, given: JsonObject, root?: string): Promise<Json> {
  const mapped = await over(args, root).narrows.arguments(given, ADA);
  return 'args' in mapped ? mapped.args : mapped.issues.map(({ path, message }) => `${path} ${message}`).join('; ');
}

const URL_AT = 'https://docs.example.com/a';

describe('addresses', () => {
  const hosts = ['docs.example.com', '*.cdn.example.com', 'localhost:8080', '127.0.0.1:9000'].map(
    (text) => readHost(text) as NonNullable<ReturnType<typeof readHost>>,
  );
  const allowed: readonly [string, string][] = [
    [URL_AT, URL_AT],
    ['https://DOCS.example.com', 'https://docs.example.com/'],
    ['https://docs.example.com.', 'https://docs.example.com/'],
    ['https://docs.example.com:443/a', URL_AT],
    ['https://a.cdn.example.com/x?y#z', 'https://a.cdn.example.com/x?y#z'],
    ['https://localhost:8080/', 'https://localhost:8080/'],
    ['https://2130706433:9000/', 'https://127.0.0.1:9000/'],
    ['https://docs.example.com/x/../../a', URL_AT],
  ];
  test.each(allowed)('%s may be used, as %s', (text, href) => {
    expect(allowedAddress(text, hosts, ['https'])).toEqual({ href });
  });
  test.each([
    'https://evil.example.com/',
    'https://docs.example.com.evil.test/',
    'https://docs.example.com@evil.test/',
    'https://user:word@docs.example.com/',
    'https://docs.example.com:8443/',
    'https://cdn.example.com/',
    'https://localhost/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://[::1]/',
    'http://docs.example.com/',
    'file:///etc/passwd',
    'https:docs.example.com',
    'https:///docs.example.com/',
    'https://docs.example.com..',
    'https://docs%2eexample.com/',
    'https:\\\\docs.example.com/',
    ' https://docs.example.com/',
    'https://docs.example.com/a\n',
    'https://docs.еxample.com/',
    '//docs.example.com/',
    'docs.example.com',
    '',
  ])('%j may not be used', (text) => {
    expect(allowedAddress(text, hosts, ['https'])).toHaveProperty('why');
  });
  test.each(['', '*', '*.com', '*.127.0.0.1', 'a/b', 'a@b', 'https://a', 'a b', 'a:99999', '..'])(
    '%j is no host to allow',
    (text) => expect(readHost(text)).toBeUndefined(),
  );
});

describe('arguments', () => {
  test('fixed ones are put in, also from the identity, and are not offered', async () => {
    const limits = { follow: { fixed: false }, owner: { from: '/user' } };
    expect(Object.keys((over(limits).tool.inputSchema as { properties: object }).properties)).not.toContain('follow');
    expect(await sent(limits, { url: 'x' })).toEqual({ url: 'x', follow: false, owner: 'ada' });
    expect(await sent(limits, { url: 'x', follow: true })).toContain('/follow');
    expect(await sent({ owner: { from: '/nothing' } }, { url: 'x' })).toContain('identity has no /nothing');
  });
  const refused: readonly [Record<string, ArgumentOptions>, JsonObject][] = [
    [{ format: { enum: ['text'] } }, { url: 'x', format: 'html' }],
    [{ format: { enum: ['text'] } }, { url: 'x' }],
    [{ limit: { maximum: 10 } }, { url: 'x', limit: 11 }],
    [{ limit: { maximum: 10 } }, { url: 'x', limit: '5' }],
    [{ url: { maxLength: 2 } }, { url: 'abc' }],
    [{ url: { values: { from: '/scopes' } } }, { url: 'green' }],
    [{ url: { values: [] } }, { url: 'green' }],
    [{ url: { choices: { a: URL_AT } } }, { url: URL_AT }],
    [{ url: { choices: { a: URL_AT } } }, { url: 'toString' }],
    [{ url: { values: () => Promise.reject(new Error('no database')) } }, { url: 'x' }],
    [{ tags: { enum: ['a'] } }, { url: 'x', tags: ['a', 'b'] }],
    [{ tags: { maxItems: 1 } }, { url: 'x', tags: ['a', 'b'] }],
    [{ tags: { enum: ['a'] } }, { url: 'x', tags: [] }],
    [{ tags: { values: ['a'] } }, { url: 'x', tags: [] }],
    [{ url: { values: ['a'] } }, { url: [] }],
    [{ owner: { remove: true } }, { url: 'x', owner: 'eve' }],
    [{ url: { inside: ['/docs'] } }, { url: 'docs/a' }],
    [{ url: { hosts: ['docs.example.com'] } }, { url: 'https://evil.test/' }],
    [{ url: { as: 'address' } }, { url: 'x' }],
  ];
  test.each(refused)('with %j, %j is refused', async (limits, given) => {
    expect(await sent(limits, given)).toBeTypeOf('string');
  });
  const passed: readonly [Record<string, ArgumentOptions>, JsonObject, JsonObject][] = [
    [{ format: { enum: ['text'] } }, { url: 'x', format: 'text' }, { url: 'x', format: 'text' }],
    [{ format: { enum: ['text'], optional: true } }, { url: 'x' }, { url: 'x' }],
    [{ limit: { maximum: 10, default: 5 } }, { url: 'x' }, { url: 'x', limit: 5 }],
    [{ url: { values: { from: '/scopes' } } }, { url: 'red' }, { url: 'red' }],
    [{ url: { choices: { a: URL_AT }, as: 'document' } }, { document: 'a' }, { url: URL_AT }],
    [{ url: { hosts: ['docs.example.com'] } }, { url: 'https://DOCS.example.com/a' }, { url: URL_AT }],
    [{ tags: { enum: ['a', 'b'], optional: true } }, { url: 'x', tags: ['a'] }, { url: 'x', tags: ['a'] }],
    [{ tags: { values: ['a'], optional: true } }, { url: 'x', tags: [] }, { url: 'x', tags: [] }],
    [{ tags: { values: ['a'], default: [] } }, { url: 'x' }, { url: 'x', tags: [] }],
    [{ tags: { maxItems: 1 } }, { url: 'x', tags: [] }, { url: 'x', tags: [] }],
  ];
  test.each(passed)('with %j, %j goes on as %j', async (limits, given, behind) => {
    expect(await sent(limits, given)).toEqual(behind);
  });
  test('a folder is a real one: a link that leads out of it is refused', async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-views-')));
    mkdirSync(join(root, 'docs'));
    symlinkSync('/', join(root, 'docs', 'out'));
    const limits = { url: { inside: ['docs'] } };
    // Where a server would begin to read a relative one, nobody can tell.
    expect(await sent(limits, { url: 'docs/a.md' }, root)).toEqual({ url: join(root, 'docs', 'a.md') });
    expect(await sent(limits, { url: join(root, 'docs', 'a') }, root)).toEqual({ url: join(root, 'docs', 'a') });
    const absolute = { url: { inside: [join(root, 'docs')] } };
    expect(await sent(absolute, { url: join(root, 'docs', 'a') })).toEqual({ url: join(root, 'docs', 'a') });
    expect(await sent(absolute, { url: 'docs/a' })).toContain('must be an absolute path');
    for (const url of ['docs/out/etc', 'docs/../x', '/etc/passwd', 'file:///etc', '~/x']) {
      expect(await sent(limits, { url }, root)).toContain('must lie below');
    }
  });
  const own = FETCH_SCHEMA as JsonObject;
  const unfit: readonly [string, JsonObject, Record<string, ArgumentOptions>, JsonObject, string][] = [
    ['what is fixed', { not: { required: ['follow'] } }, { follow: { fixed: true } }, { url: 'x' }, 'together'],
    ['a fixed value', {}, { limit: { fixed: 7777 } }, { url: 'x', format: 'text' }, 'together'],
    ['a name behind', {}, { url: { as: 'address' }, follow: { remove: true } }, { address: 'bad' }, '/address'],
    ['a choice', {}, { url: { choices: { one: 'follow-me' } }, follow: { remove: true } }, { url: 'one' }, 'together'],
    ['what it depends on', {}, { follow: { remove: true } }, { url: 'x', owner: 'a' }, 'together'],
  ];
  test.each(unfit)(
    "what passes the view is held to the tool's own schema, too, and %s is not told",
    async (_, more, limits, given, said) => {
      const properties = {
        ...(own.properties as JsonObject),
        url: { type: 'string', not: { enum: ['bad', 'follow-me'] } },
        limit: { type: 'integer', maximum: 1000 },
      };
      const schema = { ...own, properties, dependentRequired: { owner: ['follow'] }, ...more };
      const one = view({ name: 'load', server: 'web', tool: 'fetch', arguments: limits });
      const { narrows } = made(applyView(fetchTool(schema), one));
      const text = JSON.stringify(await narrows.arguments(given, ADA));
      expect(text).toContain('issues');
      expect(text).toContain(said);
      for (const hidden of ['follow', '7777', ...(limits.url?.as ? ['/url'] : [])]) expect(text).not.toContain(hidden);
    },
  );
});

describe('a view that does not fit is a problem', () => {
  test.each<Record<string, ArgumentOptions>>([
    { nothing: { fixed: 1 } },
    { url: { remove: true } },
    { format: { enum: ['pdf'] } },
    { url: { as: 'owner' } },
    { url: { inside: ['docs'] } },
    { '/url/host': { enum: ['a'] } },
  ])('%j', (args) => {
    const one = view({ name: 'load', server: 'web', tool: 'fetch', arguments: args });
    expect(applyView(fetchTool(), one)).toMatchObject({ problem: { code: 'view_does_not_fit' } });
  });
  test.each<JsonObject>([
    { tool: 'fetch', argument: {} },
    { tool: 'fetch', arguments: { url: { host: ['a.test'] } } },
    { tool: 'fetch', arguments: { url: { hosts: [] } } },
    { tool: 'fetch', arguments: { url: { hosts: ['*'] } } },
    { tool: 'fetch', arguments: { url: { hosts: ['a.test'], schemes: ['file'] } } },
    { tool: 'fetch', arguments: { url: { fixed: 1, enum: [1] } } },
    { tool: 'fetch', arguments: { url: { maximum: '5' } } },
    { tool: 'fetch', arguments: { url: { inside: 'docs' } } },
    { tool: 'fetch', arguments: { url: { inside: ['docs'], hosts: ['a.test'] } } },
    { tool: 'fetch', arguments: { url: { choices: { a: 1 }, enum: ['a'] } } },
    { tool: 'fetch', arguments: ['url'] },
    { tool: 'fetch', result: { keep: [] } },
    { tool: 'fetch', result: { keep: ['name'] } },
    { tool: 'fetch', keep: 'yes' },
    { tool: 'fetch', upstream: 'abc' },
  ])('%j', (value) => {
    expect(parseView('load', value).problem).toBeTypeOf('string');
  });
  test('in a program it is thrown', () => {
    expect(() => view({ name: 'x', tool: 'fetch', keep: 'yes' as unknown as boolean })).toThrow(
      expect.objectContaining({ code: 'view_invalid' }),
    );
  });
});

describe('a view as a tool', () => {
  test('has its own words and none of the others that the tool says of itself', () => {
    const one = view({
      name: 'load',
      server: 'web',
      tool: 'fetch',
      title: 'Load',
      description: 'Loads.',
      strict: true,
    });
    const { tool } = made(applyView({ ...fetchTool(), raw: rawFrom({ name: 'fetch', _meta: { a: 1 } }) }, one));
    expect(tool).toMatchObject({ title: 'Load', description: 'Loads.', hints: { strict: true }, effect: 'read' });
    expect(tool.raw.parse()).toEqual({ name: 'load', title: 'Load', description: 'Loads.', inputSchema: FETCH_SCHEMA });
    expect(tool.ref).toMatchObject({ tool: 'load', name: 'mcp__web__load' });
  });
  test("its fingerprint changes with the tool's, and with the view's", () => {
    const of = (description: string, fingerprint: string) => {
      const upstream = { ...fetchTool(), ref: { ...fetchTool().ref, fingerprint } };
      return made(applyView(upstream, view({ name: 'load', server: 'web', tool: 'fetch', description }))).tool.ref
        .fingerprint;
    };
    expect(new Set([of('a', '1'), of('b', '1'), of('a', '2')]).size).toBe(3);
  });
});

describe('results', () => {
  const keep = ['/id', '/items/*/name'];
  const data = { id: 1, secret: 2, items: [{ name: 'a', price: 3 }, { price: 4 }] };
  const left = { id: 1, items: [{ name: 'a' }] };
  test('only the fields that are kept are left, of structured content or of JSON text', () => {
    const both = rawFrom({ content: [{ type: 'text', text: 'secret 2' }], structuredContent: data, _meta: { x: 1 } });
    expect(keepResult({ keep }, both, false)).toHaveProperty(
      'raw.text',
      rawFrom({
        content: [{ type: 'text', text: JSON.stringify(left) }],
        structuredContent: left,
      }).text,
    );
    const text = rawFrom({ content: [{ type: 'text', text: JSON.stringify(data) }] });
    const kept = keepResult({ keep }, text, false);
    expect('raw' in kept && kept.raw.parse()).toEqual({ content: [{ type: 'text', text: JSON.stringify(left) }] });
  });
  test.each<Json>([
    { content: [{ type: 'text', text: 'secret' }] },
    { content: [] },
    { content: [{ type: 'text', text: '{"secret":1}' }] },
    {
      content: [
        { type: 'text', text: '{"id":1}' },
        { type: 'text', text: 'secret' },
      ],
    },
    { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] },
    { structuredContent: ['secret'] },
    'secret',
  ])('%j is refused', (raw) => {
    expect(keepResult({ keep }, rawFrom(raw), false)).toHaveProperty('refused');
  });
  test("an error's words are not handed on", () => {
    const kept = keepResult({ keep }, rawFrom({ content: [{ type: 'text', text: 'secret' }], isError: true }), true);
    expect(JSON.stringify('raw' in kept && kept.raw.parse())).not.toContain('secret');
  });
});
