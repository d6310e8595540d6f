import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Source } from '../contracts/index.ts';
import { createCatalog } from './catalog.ts';
import { fakeSource, hiding, never, server, tool, WHO } from './fixtures.ts';

const names = (catalog: ReturnType<typeof createCatalog>) => catalog.list(WHO).map(({ ref }) => ref.name);
const make = (sources: readonly Source[], more: Partial<Parameters<typeof createCatalog>[0]> = {}) =>
  createCatalog({ sources, policy: hiding(), settleMs: 0, ...more });

describe('the list', () => {
  test('has the sources in the order given, and the tools in the order of their server', async () => {
    const catalog = make([fakeSource('b', ['z', 'a']), fakeSource(null, ['own']), fakeSource('a', ['y'])]);
    await catalog.refresh();
    expect(names(catalog)).toEqual(['mcp__b__z', 'mcp__b__a', 'own', 'mcp__a__y']);
  });

  test('is empty before the first refresh', () => {
    expect(names(make([fakeSource('a', ['x'])]))).toEqual([]);
  });

  test('shows nobody what the policy hides from them, though it can be found', async () => {
    const catalog = make([fakeSource('a', ['x', 'secret'])], { policy: hiding('secret') });
    await catalog.refresh();
    expect(names(catalog)).toEqual(['mcp__a__x']);
    expect(catalog.find('mcp__a__secret')?.tool.ref.tool).toBe('secret');
  });

  test('is the very same one while nothing changed, whoever hides what, and another one after a change', async () => {
    const a = fakeSource('a', ['x', 'y']);
    const open = make([a]);
    const hidden = make([a], { policy: hiding('y') });
    await Promise.all([open.refresh(), hidden.refresh()]);
    const before = [open.list(WHO), hidden.list(WHO)];
    expect([open.list({ ...WHO }), hidden.list({ ...WHO })].every((list, at) => list === before[at])).toBe(true);
    a.tools = ['x', 'y', 'z'];
    await Promise.all([open.refresh(), hidden.refresh()]);
    expect([open.list(WHO), hidden.list(WHO)].map((list) => list.length)).toEqual([3, 2]);
  });

  test('shows nobody a tool about which the policy throws', async () => {
    const view = () => {
      throw new Error('broken');
    };
    const catalog = make([fakeSource('a', ['x'])], { policy: { ...hiding(), view } });
    await catalog.refresh();
    expect(names(catalog)).toEqual([]);
  });

  test.each(['constructor', '__proto__', 'toString', 'nothing'])('finds nothing under %s', async (name) => {
    const catalog = make([fakeSource('a', ['x'])]);
    await catalog.refresh();
    expect(catalog.find(name)).toBeUndefined();
  });

  test('finds a tool called constructor', async () => {
    const catalog = make([fakeSource(null, ['constructor'])]);
    await catalog.refresh();
    expect(catalog.find('constructor')?.tool.ref.tool).toBe('constructor');
  });

  test('keeps the places of what was there: new tools come last, and what comes back has its old place', async () => {
    const a = fakeSource('a', ['one', 'two']);
    const catalog = make([a, fakeSource('b', ['three'])]);
    await catalog.refresh();
    a.tools = ['new', 'two'];
    await catalog.refresh();
    expect(names(catalog)).toEqual(['mcp__a__two', 'mcp__b__three', 'mcp__a__new']);
    a.tools = ['two', 'one'];
    await catalog.refresh();
    expect(names(catalog)).toEqual(['mcp__a__one', 'mcp__a__two', 'mcp__b__three']);
  });

  test('never moves a tool against another one, whatever the sources do', async () => {
    const listing = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(listing, listing), { minLength: 1, maxLength: 5 }), async (turns) => {
        const [one, two] = [fakeSource('one', []), fakeSource('two', [])];
        const catalog = make([one, two]);
        const known: string[] = [];
        for (const [first, second] of turns) {
          one.tools = first;
          two.tools = second;
          await catalog.refresh();
          const now = names(catalog);
          expect(new Set(now).size).toBe(now.length);
          expect([...now].sort()).toEqual(
            [...first.map((n) => `mcp__one__${n}`), ...second.map((n) => `mcp__two__${n}`)].sort(),
          );
          for (const name of now) if (!known.includes(name)) known.push(name);
          expect(now).toEqual(known.filter((name) => now.includes(name)));
        }
      }),
    );
  });

  test('sets the tools aside that are more than it takes', async () => {
    const catalog = make([fakeSource('a', ['one', 'two', 'three'])], { maxTools: 2 });
    await catalog.refresh();
    expect(names(catalog)).toEqual(['mcp__a__one', 'mcp__a__two']);
    expect(catalog.setAside()).toMatchObject([{ server: 'a', tool: 'three', reasons: [{ code: 'too_many_tools' }] }]);
  });
});

describe('names that collide', () => {
  test('the first keeps the name; the later is set aside, with a reason that names both', async () => {
    const first = fakeSource('shop', ['look']);
    const later = fakeSource('shop', ['look', 'other']);
    const catalog = make([first, later]);
    await catalog.refresh();
    expect(names(catalog)).toEqual(['mcp__shop__look', 'mcp__shop__other']);
    expect(catalog.find('mcp__shop__look')?.source).toBe(first);
    expect(catalog.setAside()).toMatchObject([{ server: 'shop', tool: 'look', reasons: [{ code: 'name_taken' }] }]);
    expect(catalog.setAside()[0]?.reasons[0]?.text).toMatch(/"look" of server "shop" .* "look" of server "shop"/);
  });

  test('a name does not go to another tool when its owner vanishes within the run', async () => {
    const first = fakeSource('shop', ['look']);
    const catalog = make([first, fakeSource('shop', ['look'])]);
    await catalog.refresh();
    first.tools = [];
    await catalog.refresh();
    expect(names(catalog)).toEqual([]);
    expect(catalog.setAside()).toMatchObject([{ reasons: [{ code: 'name_taken' }] }]);
  });

  test('a server that names a tool twice has it once', async () => {
    const catalog = make([fakeSource('a', ['x', 'x'])]);
    await catalog.refresh();
    expect(names(catalog)).toEqual(['mcp__a__x']);
    expect(catalog.setAside()).toHaveLength(1);
  });
});

describe('a source that fails', () => {
  test('costs the others nothing, and is named with why', async () => {
    const dead = fakeSource('dead', () => Promise.reject(new Error('spawn ENOENT')));
    const catalog = make([dead, fakeSource('a', ['x'])]);
    await catalog.refresh();
    expect(names(catalog)).toEqual(['mcp__a__x']);
    expect(catalog.problems()).toMatchObject([{ code: 'source_not_listed' }]);
    expect(catalog.problems()[0]?.text).toMatch(/"dead".*spawn ENOENT/);
  });

  test('that never answers is given up, and told so', async () => {
    let signal: AbortSignal | undefined;
    const slow = fakeSource('slow', (given) => {
      signal = given;
      return never();
    });
    const catalog = make([slow, fakeSource('a', ['x'])], { listMs: 20 });
    await catalog.refresh();
    expect(names(catalog)).toEqual(['mcp__a__x']);
    expect(catalog.problems()[0]?.text).toContain('within 20 ms');
    expect(signal?.aborted).toBe(true);
  });

  test.each([
    [
      'throws at once',
      () => {
        throw new Error('broken');
      },
    ],
    ['answers nothing', async () => undefined as never],
    ['answers with something else', async () => ({ tools: 3 }) as never],
  ])('that %s is a problem, not an error', async (_how, list) => {
    const catalog = make([{ ...fakeSource('a', []), list }]);
    await catalog.refresh();
    expect(catalog.problems()).toHaveLength(1);
  });

  test('keeps the tools of its last good listing, and comes back', async () => {
    const a = fakeSource('a', ['x']);
    const catalog = make([a]);
    await catalog.refresh();
    a.tools = () => Promise.reject(new Error('gone'));
    await catalog.refresh();
    expect(names(catalog)).toEqual(['mcp__a__x']);
    expect(catalog.problems()[0]?.text).toContain('kept');
    a.tools = ['y'];
    await catalog.refresh();
    expect(names(catalog)).toEqual(['mcp__a__y']);
    expect(catalog.problems()).toEqual([]);
  });

  test('cancelling a refresh ends it, and keeps what there was', async () => {
    const a = fakeSource('a', ['x']);
    const catalog = make([a]);
    await catalog.refresh();
    a.tools = never;
    await catalog.refresh(AbortSignal.abort());
    expect(names(catalog)).toEqual(['mcp__a__x']);
  });

  test('its own bad tools cost it no good ones, and stand among what is set aside', async () => {
    const reasons = [{ room: 'tools', code: 'schema_too_deep', text: 'Too deep.' }];
    const listing = { tools: [tool('good', server('a'))], setAside: [{ tool: 'bad', reasons }] };
    const catalog = make([fakeSource('a', listing)]);
    await catalog.refresh();
    expect(names(catalog)).toEqual(['mcp__a__good']);
    expect(catalog.setAside()).toEqual([{ server: 'a', tool: 'bad', reasons }]);
  });
});

test('what a source lists that is no definition costs it no good tool', async () => {
  const listing = { tools: [null, {}, { ref: { name: 3 } }, tool('good', server('a'))], setAside: [null, 3] } as never;
  const catalog = make([fakeSource('a', listing)]);
  await catalog.refresh();
  expect(names(catalog)).toEqual(['mcp__a__good']);
  expect(catalog.setAside()).toMatchObject([{ server: 'a', reasons: [{ code: 'not_a_definition' }] }]);
});

describe('changes', () => {
  test('a source that reports many changes is listed again once, and the others are not', async () => {
    const [a, b] = [fakeSource('a', ['x']), fakeSource('b', ['y'])];
    const catalog = make([a, b]);
    await catalog.refresh();
    const told = vi.fn();
    catalog.onChange(told);
    a.tools = ['x', 'new'];
    for (let n = 0; n < 100; n += 1) a.changed();
    await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(1));
    expect([a.lists, b.lists]).toEqual([2, 1]);
    expect(names(catalog)).toEqual(['mcp__a__x', 'mcp__b__y', 'mcp__a__new']);
  });

  test('listeners are told when a definition changed, and not when nothing did', async () => {
    const a = fakeSource('a', { tools: [tool('x', server('a'))], setAside: [] });
    const catalog = make([a]);
    await catalog.refresh();
    const told = vi.fn();
    const stop = catalog.onChange(told);
    const before = catalog.version;
    await catalog.refresh();
    expect(told).not.toHaveBeenCalled();
    expect(catalog.version).toBe(before);
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    a.tools = { tools: [tool('x', server('a'), 'Another description.')], setAside: [] };
    await catalog.refresh();
    expect(told).toHaveBeenCalledTimes(1);
    expect(catalog.version).not.toBe(before);
    stop();
    a.tools = [];
    await catalog.refresh();
    expect(told).toHaveBeenCalledTimes(1);
  });

  test('a listener that throws costs the others nothing', async () => {
    const a = fakeSource('a', ['x']);
    const catalog = make([a]);
    const told = vi.fn();
    catalog.onChange(() => {
      throw new Error('broken');
    });
    catalog.onChange(told);
    await catalog.refresh();
    expect(told).toHaveBeenCalledTimes(1);
  });

  test('a source that is added comes last, and is followed', async () => {
    const catalog = make([fakeSource('a', ['x'])]);
    await catalog.refresh();
    const late = fakeSource('late', ['y']);
    await catalog.addSource(late);
    await catalog.addSource(late);
    expect(names(catalog)).toEqual(['mcp__a__x', 'mcp__late__y']);
    expect(catalog.setAside()).toEqual([]);
    expect(late.listeners.size).toBe(1);
    late.tools = ['y', 'z'];
    late.changed();
    await vi.waitFor(() => expect(names(catalog)).toEqual(['mcp__a__x', 'mcp__late__y', 'mcp__late__z']));
  });

  test('after closing, nothing is followed any more', async () => {
    const a = fakeSource('a', ['x']);
    const catalog = make([a]);
    await catalog.refresh();
    catalog.close();
    expect(a.listeners.size).toBe(0);
  });
});
