import { describe, expect, test } from 'vitest';
import type { Source, ToolListing } from '../contracts/index.ts';
import { createCatalog } from './catalog.ts';
import { fakeSource, hiding, never, server, tool, WHO } from './fixtures.ts';

/** Longer than any test: what ends such a wait is never the time. */
const LONG = 600_000;

const names = (catalog: ReturnType<typeof createCatalog>) => catalog.list(WHO).map(({ ref }) => ref.name);
const states = (catalog: ReturnType<typeof createCatalog>) => catalog.readiness().map(({ state }) => state);
const make = (...sources: readonly Source[]) => createCatalog({ sources, policy: hiding(), settleMs: 0 });

/** A source whose listing comes, or fails, when the test says so. */
function gated(key: string) {
  let give: (listing: ToolListing) => void = () => {};
  const listing = new Promise<ToolListing>((resolve) => {
    give = resolve;
  });
  const ref = server(key);
  return {
    source: fakeSource(key, () => listing),
    ready: (...tools: string[]) => give({ tools: tools.map((name) => tool(name, ref)), setAside: [] }),
  };
}

/** The next change of the list. */
function changed(catalog: ReturnType<typeof createCatalog>): Promise<void> {
  return new Promise((resolve) => {
    const stop = catalog.onChange(() => {
      stop();
      resolve();
    });
  });
}

describe('waiting for the sources no longer than told', () => {
  test('gives what is there, and the late tools come to the end, wherever their source stands', async () => {
    const slow = gated('slow');
    const catalog = make(slow.source, fakeSource('a', ['x']));
    await catalog.ready({ ms: 1 });
    // The quick one may take longer than a millisecond too.
    while (states(catalog)[1] !== 'ready') await changed(catalog);
    expect(names(catalog)).toEqual(['mcp__a__x']);
    expect(catalog.readiness()[0]).toMatchObject({ server: { key: 'slow' }, state: 'waiting' });
    expect(catalog.readiness()[0]?.since).toBeGreaterThan(0);
    expect(catalog.problems()).toEqual([]);
    const late = changed(catalog);
    slow.ready('y', 'z');
    await late;
    expect(names(catalog)).toEqual(['mcp__a__x', 'mcp__slow__y', 'mcp__slow__z']);
    expect(states(catalog)).toEqual(['ready', 'ready']);
  });

  test('is over as soon as all are there, in the order of the sources and not of their answers', async () => {
    const first = gated('first');
    const catalog = make(first.source, fakeSource('a', ['x']));
    const settled = catalog.ready({ ms: LONG });
    first.ready('y');
    await settled;
    expect(names(catalog)).toEqual(['mcp__first__y', 'mcp__a__x']);
  });

  test('ends when somebody says that it is enough, also before it began', async () => {
    const enough = new AbortController();
    const catalog = make(fakeSource('slow', never));
    const settled = catalog.ready({ ms: LONG, enough: enough.signal });
    enough.abort();
    await settled;
    await make(fakeSource('slow', never)).ready({ ms: LONG, enough: enough.signal });
    expect(states(catalog)).toEqual(['waiting']);
    catalog.close();
  });

  test('a source that fails late is told as one that failed', async () => {
    const catalog = make(fakeSource('slow', () => Promise.reject(new Error('spawn ENOENT'))));
    await catalog.ready({ ms: LONG, enough: AbortSignal.abort() });
    // The next listing waits for the one before it.
    await catalog.refresh();
    expect(catalog.readiness()[0]).toMatchObject({ state: 'failed', problem: { code: 'source_not_listed' } });
  });

  test('one with tools from before counts as ready while it is listed again, and when that fails', async () => {
    const a = fakeSource('a', ['x']);
    const catalog = make(a);
    await catalog.refresh();
    a.tools = () => Promise.reject(new Error('gone'));
    await catalog.refresh();
    expect(states(catalog)).toEqual(['ready']);
    expect(catalog.problems()).toHaveLength(1);
  });

  test('closing ends the listings under way, and what comes after is no change', async () => {
    let signal: AbortSignal | undefined;
    const slow = fakeSource('slow', (given) => {
      signal = given;
      return never();
    });
    const catalog = make(slow, fakeSource('a', ['x']));
    await catalog.ready({ ms: LONG, enough: AbortSignal.abort() });
    while (signal === undefined) await Promise.resolve();
    catalog.close();
    expect(signal.aborted).toBe(true);
  });

  test('a server that may take long to start is not given up before', async () => {
    const slow = gated('slow');
    const patient = { ...slow.source, limits: { startMs: LONG } };
    const catalog = createCatalog({ sources: [patient], policy: hiding(), listMs: 1 });
    const settled = catalog.ready({ ms: LONG });
    // Well over listMs on any machine, and nothing is given up by then.
    await new Promise((resolve) => setTimeout(resolve, 30));
    slow.ready('y');
    await settled;
    expect(names(catalog)).toEqual(['mcp__slow__y']);
  });
});
