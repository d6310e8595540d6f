import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Person, person, runBridle } from './helpers/cli-process.ts';
import {
  everything,
  faulty,
  json,
  listening,
  modernStart,
  type Running,
  sdkV1,
  sdkV2,
} from './helpers/http-servers.ts';

let at: Person;
const running: Running[] = [];
beforeAll(async () => {
  at = await person();
});
afterAll(async () => {
  for (const one of running) await one.close();
  await at.remove();
});

async function up<R extends Running>(server: Promise<R>): Promise<R> {
  const one = await server;
  running.push(one);
  return one;
}

const project = (mcpServers: object) => writeFile(join(at.cwd, '.mcp.json'), JSON.stringify({ mcpServers }));

test('servers of both eras and of the old transport stand beside one that is down, which fails alone', async () => {
  const [modern, legacy, old] = await Promise.all([up(sdkV2()), up(sdkV1()), up(everything('sse'))]);
  const down = await listening(() => {});
  await down.close();
  await project({
    modern: { type: 'http', url: modern.url },
    down: { type: 'http', url: down.url },
    legacy: { type: 'streamable-http', url: legacy.url },
    old: { type: 'sse', url: old.url },
    local: at.fixture('scripted.mjs'),
  });
  const { stdout, stderr, status } = await runBridle(['tools', 'list', '--json', '--trust-project'], at);
  expect(status).toBe(0);
  const { tools, problems } = JSON.parse(stdout);
  const servers = new Set(tools.map(({ server }: { server: string }) => server));
  expect([...servers].sort()).toEqual(['legacy', 'local', 'modern', 'old']);
  expect(problems).toHaveLength(1);
  expect(problems[0].text).toContain(`127.0.0.1:${down.port}`);
  expect(stderr).toContain('which is deprecated');
});

test('a run calls a tool over the network, and its header stays between the two', async () => {
  const server = await up(
    faulty((asked, response) => {
      if (modernStart(asked, response)) return;
      const { id, method } = asked.body;
      const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
      if (method === 'tools/list') {
        json(response, 200, {
          id,
          result: { tools: [{ name: 'weather', description: 'The weather of a city.', inputSchema }] },
        });
      } else json(response, 200, { id, result: { content: [{ type: 'text', text: 'Rain, 12 degrees.' }] } });
    }),
  );
  const entry = { type: 'http', url: server.url, headers: { Authorization: `Bearer \${WEATHER_TOKEN}` } };
  await project({ weather: entry });
  const env = { ...at.env, WEATHER_TOKEN: 'very-secret-token' };
  const refused = await runBridle(['run', 'Get the weather of "Oslo".'], { cwd: at.cwd, env });
  expect(refused.status).toBe(7);
  expect(refused.stderr).toContain(`takes from your environment and sends to 127.0.0.1:${server.port}: WEATHER_TOKEN`);
  expect(server.asked).toEqual([]);
  const args = ['run', 'Get the weather of "Oslo".', '--trust-project', '--allow', 'mcp__weather__weather'];
  const ran = await runBridle(args, { cwd: at.cwd, env });
  expect(ran.stdout).toContain('Rain, 12 degrees.');
  const call = server.asked.find(({ body }) => body.method === 'tools/call');
  expect(call?.headers.authorization).toBe('Bearer very-secret-token');
  expect(call?.body).toMatchObject({ params: { name: 'weather', arguments: { city: 'Oslo' } } });
  expect(`${refused.stderr}${ran.stdout}${ran.stderr}${JSON.stringify(await at.traces())}`).not.toContain(
    'very-secret-token',
  );
});
