import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { connectHttp } from '../src/mcp/client/index.ts';
import { type Answer, closeHttp, up } from './helpers/http-peers.ts';
import { entry, json, legacyStart, modernStart, stream } from './helpers/http-servers.ts';
import { eventually } from './helpers/mcp.ts';

const running: { close(): void }[] = [];
afterEach(async () => {
  await closeHttp();
  for (const one of running.splice(0)) one.close();
});

/** A way to a server that can come to hold everything back: what was open then stays dead, without an end. */
async function wayTo(port: number) {
  let frozen = false;
  let seen = 0;
  const sockets = new Set<Socket>();
  const halves: (() => void)[] = [];
  const server = createServer((socket) => {
    seen += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    if (frozen) return;
    const on = dial(port, '127.0.0.1');
    sockets.add(on);
    on.on('error', () => socket.destroy());
    socket.pipe(on).pipe(socket);
    halves.push(() => {
      socket.unpipe(on);
      on.unpipe(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.push({
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen: () => seen,
    freeze() {
      frozen = true;
      for (const stop of halves.splice(0)) stop();
    },
    thaw() {
      frozen = false;
    },
  };
}

/** A server whose stream of notifications says nothing. */
const silent =
  (era: 'modern' | 'legacy'): Answer =>
  (asked, response) => {
    if (asked.body.method === 'subscriptions/listen' || (era === 'legacy' && asked.verb === 'GET')) stream(response);
    else if (era === 'modern' && modernStart(asked, response, { tools: { listChanged: true } })) return;
    else if (era === 'legacy' && legacyStart(asked, response)) return;
    else json(response, 200, { id: asked.body.id, result: {} });
  };

describe.each(['modern', 'legacy'] as const)('a silent stream of a %s server', (era) => {
  const [listens, probe] = era === 'modern' ? ['subscriptions/listen', 'server/discover'] : ['GET', 'ping'];
  const count = (methods: readonly string[], which: string) => methods.filter((method) => method === which).length;

  test('is left alone as long as the server answers', async () => {
    const server = await up(silent(era));
    const connection = connectHttp(entry(server.url), { silenceMs: 20, probeMs: 120_000 });
    await connection.connect();
    // One of them may be the question of the start.
    expect(await eventually(() => count(server.methods(), probe) > 4)).toBe(true);
    expect(count(server.methods(), listens)).toBe(1);
    expect(connection.status().state).toBe('ready');
  });

  test('is opened anew when nothing answers, and what may have changed meanwhile is told', async () => {
    const server = await up(silent(era));
    const way = await wayTo(server.port);
    const connection = connectHttp(entry(way.url), { silenceMs: 100, probeMs: 500 });
    const told: string[] = [];
    connection.onNotification((method) => told.push(method));
    await connection.connect();
    expect(await eventually(() => count(server.methods(), listens) > 0)).toBe(true);
    way.freeze();
    const [opened, before] = [count(server.methods(), listens), way.seen()];
    // More than one, so that a question has gone unanswered, whatever else was just on its way.
    expect(await eventually(() => way.seen() > before + 2)).toBe(true);
    way.thaw();
    const isTold = () => told.includes('notifications/tools/list_changed');
    expect(await eventually(() => count(server.methods(), listens) > opened && isTold())).toBe(true);
  });
});
