import { describe, expect, test } from 'vitest';
import { WIRE_NAME_LIMIT } from '../tools/index.ts';
import { createCatalog } from './catalog.ts';
import { fakeSource, hiding, server, tool, WHO } from './fixtures.ts';

async function explain(
  sources: readonly ReturnType<typeof fakeSource>[],
  name: string,
  hidden: readonly string[] = [],
) {
  const catalog = createCatalog({ sources, policy: hiding(...hidden) });
  await catalog.refresh();
  const reasons = catalog.explain(name, WHO);
  return { codes: reasons.map(({ code }) => code), text: reasons.map(({ text }) => text).join('\n') };
}

describe('explaining', () => {
  test('says where a tool is from, and what the policy says of it', async () => {
    const { codes, text } = await explain([fakeSource('shop', ['look'])], 'mcp__shop__look');
    expect(codes).toEqual(['from_server', 'effect', 'view_ask', 'of_a_test']);
    expect(text).toContain('"look" of server "shop"');
    expect(text).toContain('project scope');
    expect(text).toContain('The rule about look.');
  });

  test('says that a tool is defined in this process', async () => {
    expect((await explain([fakeSource(null, ['own'])], 'own')).codes[0]).toBe('defined_here');
  });

  test('tells the owner of the rules that a rule hides a tool', async () => {
    const { codes, text } = await explain([fakeSource('shop', ['look'])], 'mcp__shop__look', ['look']);
    expect(codes).toContain('view_deny');
    expect(text).toContain('The rule about look.');
  });

  test.each([
    ['a dot', 'shop', 'files.read', /characters other than/],
    ['its length', 'shop', 'x'.repeat(80), new RegExp(`longer than ${WIRE_NAME_LIMIT}`)],
    ["its server's key", 'my__shop', 'look', /server's key/],
  ])('says why a name was changed: %s', async (_why, key, name, words) => {
    const source = fakeSource(key, [name]);
    const wire = tool(name, server(key)).ref.name;
    const { codes, text } = await explain([source], wire);
    expect(codes).toContain('renamed');
    expect(text).toMatch(words);
    expect(text).toContain(`"${wire}"`);
  });

  test.each(['files.read', 'shop/files.read', 'mcp__shop__files.read'])(
    'understands %s, as the server spells it',
    async (name) => {
      const { codes } = await explain([fakeSource('shop', ['files.read'])], name);
      expect(codes.slice(0, 3)).toEqual(['named_otherwise', 'from_server', 'effect']);
    },
  );

  test('says why a tool was set aside', async () => {
    const reasons = [{ room: 'tools', code: 'schema_too_deep', text: 'Its schema is too deep.' }];
    const { codes, text } = await explain(
      [fakeSource('shop', { tools: [], setAside: [{ tool: 'bad', reasons }] })],
      'mcp__shop__bad',
    );
    expect(codes).toEqual(['set_aside', 'schema_too_deep']);
    expect(text).toContain('Its schema is too deep.');
  });

  test('says that a tool stands from an earlier listing', async () => {
    const a = fakeSource('shop', ['look']);
    const catalog = createCatalog({ sources: [a], policy: hiding() });
    await catalog.refresh();
    a.tools = () => Promise.reject(new Error('gone'));
    await catalog.refresh();
    expect(catalog.explain('mcp__shop__look', WHO).at(-1)).toMatchObject({ code: 'source_not_listed' });
  });

  test('a name that nothing has gets the nearest ones, and the sources that could not be listed', async () => {
    const dead = fakeSource('dead', () => Promise.reject(new Error('spawn ENOENT')));
    const { codes, text } = await explain([fakeSource('shop', ['get_order', 'refund']), dead], 'get_ordre');
    expect(codes).toEqual(['unknown_tool', 'source_not_listed']);
    expect(text).toContain('"mcp__shop__get_order"');
    expect(text).not.toContain('refund');
  });

  test("a server's name is told from a tool's", async () => {
    const { codes, text } = await explain([fakeSource('shop', ['get_order'])], 'shop');
    expect(codes).toEqual(['unknown_tool']);
    expect(text).toContain('It is a server: its tools are called "mcp__shop__…".');
  });

  test('a name that is like nothing gets no suggestion', async () => {
    expect((await explain([fakeSource('shop', ['get_order'])], 'zzzzzz')).text).not.toContain('Did you mean');
  });

  test.each(['constructor', '__proto__', ''])('%j is unknown', async (name) => {
    expect((await explain([fakeSource('shop', ['get_order'])], name)).codes[0]).toBe('unknown_tool');
  });

  test('what a server calls its tools reaches nobody with control characters', async () => {
    const source = fakeSource('shop', ['look\u001b[2J\u202e']);
    const wire = tool('look\u001b[2J\u202e', server('shop')).ref.name;
    const { text } = await explain([source], wire);
    const ours = text.split('\n').filter((line) => !line.includes('The rule about'));
    expect(ours.join('')).toContain('"look"');
    for (const hidden of ['\u001b', '\u202e']) expect(ours.join('')).not.toContain(hidden);
  });
});
