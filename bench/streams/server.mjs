/** The server of `bench/streams.mjs`: says what it holds, and tells all streams of a change, whenever it is asked. */
import { toolHost } from 'bridle';
import { serve } from 'bridle/server';

const listeners = new Set();
/** A host of no tools whose list changes when it is told to. */
const host = {
  ...(await toolHost({ tools: [] })),
  onChange(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
const limits = { streams: 50_000, sessions: 50_000 };
const { url } = await serve(host, { http: { port: 0, token: false, limits } });

process.on('message', (what) => {
  if (what === 'change') for (const listener of listeners) listener();
  for (let round = 0; round < 4; round += 1) globalThis.gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.send({ heap: heapUsed, external, rss });
});
process.once('disconnect', () => process.exit());
process.send({ url });
