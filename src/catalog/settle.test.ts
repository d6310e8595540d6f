import { describe, expect, test } from 'vitest';
import { createCatalog } from './catalog.ts';
import { type FakeSource, fakeSource, hiding, never, WHO } from './fixtures.ts';

const LONG = 600_000;

function catalogOf(source: FakeSource) {
  return createCatalog({ sources: [source], policy: hiding(), settleMs: LONG });
}
const names = (catalog: ReturnType<typeof createCatalog>) => catalog.list(WHO).map(({ ref }) => ref.tool);

describe('settle', () => {
  test('lists at once what a source has told of, however long changes are gathered', async () => {
    const source = fakeSource('one', ['a']);
    const catalog = catalogOf(source);
    await catalog.refresh();
    source.tools = ['a', 'b'];
    source.changed();
    expect(names(catalog)).toEqual(['a']);
    await catalog.settle(LONG);
    expect(names(catalog)).toEqual(['a', 'b']);
    expect(source.lists).toBe(2);
    catalog.close();
  });

  test('lists a source that is about to tell of a change', async () => {
    let due = false;
    const source = Object.assign(fakeSource('one', ['a']), { changeDue: () => due });
    const catalog = catalogOf(source);
    await catalog.refresh();
    source.tools = ['b'];
    due = true;
    await catalog.settle(LONG);
    expect(names(catalog)).toEqual(['b']);
  });

  test('lists nothing when nothing changed', async () => {
    const source = fakeSource('one', ['a']);
    const catalog = catalogOf(source);
    await catalog.refresh();
    await catalog.settle(LONG);
    expect(source.lists).toBe(1);
  });

  test('waits for a listing that is under way', async () => {
    const source = fakeSource('one', ['a']);
    const catalog = catalogOf(source);
    void catalog.refresh();
    await catalog.settle(LONG);
    expect(names(catalog)).toEqual(['a']);
  });

  test('gives up after its time', async () => {
    const source = fakeSource('one', ['a']);
    const catalog = catalogOf(source);
    await catalog.refresh();
    source.tools = never;
    source.changed();
    await catalog.settle(1);
    expect(names(catalog)).toEqual(['a']);
    catalog.close();
  });
});
