/**
 * `npm run test:peers`: other people's clients, unchanged. Against the double of the Messages API: Claude Code's command line,
 * also with servers of Bridle, and the Vercel AI SDK's provider. Against a server of Bridle: the MCP Inspector's command
 * line, the Vercel AI SDK's MCP client, mcp-use and LangChain's adapters. `npm run test:peers -- --install` first puts them,
 * at the exact versions below, into .cache/peers; they are no dependencies and no part of CI. Needs a build, and Node 22 or
 * later, which some of them need. Exit status 1 when a client doesn't get through, or sends what the double refuses.
 */
import { fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { mcpClients } from './peers/mcp-clients.mjs';

const PEERS = {
  '@anthropic-ai/claude-code': '2.1.332',
  '@ai-sdk/anthropic': '4.0.105',
  ai: '7.0.173',
  '@modelcontextprotocol/inspector': '2.12.0',
  '@ai-sdk/mcp': '2.0.99',
  'mcp-use': '1.34.6',
  '@langchain/mcp-adapters': '1.1.4',
};
/** What LangChain's adapters want beside them. */
const BESIDE = { '@langchain/core': '1.4.0', '@langchain/langgraph': '1.4.21' };
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, '.cache', 'peers');
const built = join(root, 'dist', 'testing', 'index.js');
if (!existsSync(built)) {
  console.error('There is no build: run npm run build first.');
  process.exit(2);
}
if (Number(process.versions.node.split('.')[0]) < 22) {
  console.error(`Some of the clients need Node 22 or later; this is ${process.versions.node}.`);
  process.exit(2);
}
if (process.argv.includes('--install')) {
  mkdirSync(folder, { recursive: true });
  const dependencies = { ...PEERS, ...BESIDE };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }, null, 2));
  writeFileSync(join(folder, 'load.mjs'), 'export const load = (name) => import(name);\n');
  const { status } = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(2);
}
if (!existsSync(join(folder, 'node_modules', 'mcp-use'))) {
  console.error('The clients are not there: run npm run test:peers -- --install, which needs the network.');
  process.exit(2);
}
const { messagesDouble } = await import(pathToFileURL(built).href);
const { load } = await import(pathToFileURL(join(folder, 'load.mjs')).href);
process.env.MCP_USE_ANONYMIZED_TELEMETRY = 'false';

/** Two calls at once with thinking before them, one more after their results, then an answer. */
const turns = (first, second) => [
  { thinking: 'Two at once.', text: 'Looking.', calls: first },
  { thinking: 'One more.', calls: second },
  'All done.',
];

/** Servers of Bridle: over stdio, and over HTTP with a token. */
const script = join(root, 'scripts', 'peers', 'server.mjs');
const stdio = { command: process.execPath, args: [script] };
const server = fork(script, ['--http']);
const [http] = await once(server, 'message');
const mcpConfig = JSON.stringify({
  mcpServers: {
    lines: { type: 'stdio', ...stdio },
    web: { type: 'http', url: http.url, headers: { Authorization: `Bearer ${http.token}` } },
  },
});

/** Claude Code without a person, in folders of its own. */
async function claudeCode(url, model, { tools = ['Bash'], more = [] } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'bridle-peer-'));
  const binary = join(
    folder,
    'node_modules',
    '@anthropic-ai',
    `claude-code-${process.platform}-${process.arch}`,
    'claude',
  );
  const args = ['-p', 'Look around.', '--model', model, '--output-format', 'json', ...more, '--allowedTools', ...tools];
  try {
    const child = spawn(binary, args, {
      cwd: home,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env.PATH,
        HOME: home,
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'sim',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
    return JSON.parse(output).result;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function aiSdk(url, model, streamed) {
  const { createAnthropic } = await load('@ai-sdk/anthropic');
  const { generateText, isStepCount, jsonSchema, stepCountIs, streamText, tool } = await load('ai');
  const look = tool({
    description: 'Looks.',
    inputSchema: jsonSchema({ type: 'object', properties: { at: { type: 'string' } }, required: ['at'] }),
    execute: async ({ at }) => `nothing at ${at}`,
  });
  const options = {
    model: createAnthropic({ baseURL: `${url}/v1`, apiKey: 'sim' })(model),
    prompt: 'Look around.',
    tools: { look },
    stopWhen: (isStepCount ?? stepCountIs)(5),
  };
  return streamed ? await streamText(options).text : (await generateText(options)).text;
}

const bash = (command) => ({ name: 'Bash', input: { command, description: 'Looks.' } });
const look = (at) => ({ name: 'look', input: { at } });
const bashTurns = turns([bash('echo one'), bash('echo two')], [bash('false')]);
const lookTurns = turns([look('a'), look('b 🎉')], [look('c')]);
const added = (server) => ({ name: `mcp__${server}__add`, input: { a: 1, b: 2 } });
const addTurns = turns([added('lines'), added('web')], [added('web')]);
const withServers = {
  tools: ['mcp__lines__add', 'mcp__web__add'],
  more: ['--mcp-config', mcpConfig, '--strict-mcp-config'],
};
const SCENARIOS = [
  ['@anthropic-ai/claude-code', 'claude-opus-5-5', bashTurns, claudeCode],
  ['@anthropic-ai/claude-code', 'claude-haiku-4-5', bashTurns, claudeCode],
  [
    '@anthropic-ai/claude-code',
    'claude-sonnet-5-5',
    addTurns,
    (url, model) => claudeCode(url, model, withServers),
    sums,
  ],
  ['@ai-sdk/anthropic', 'claude-opus-5-5', lookTurns, (url, model) => aiSdk(url, model, true)],
  ['@ai-sdk/anthropic', 'claude-haiku-4-5', lookTurns, (url, model) => aiSdk(url, model, false)],
];

/** The results of the calls are in what the model was told. */
function sums(exchanges) {
  const told = JSON.stringify(exchanges.at(-1)?.body?.messages ?? []);
  return [...told.matchAll(/sum\\*":3/g)].length >= 3;
}

console.log('| client | version | model | requests | refused | ended |\n|---|---|---|---|---|---|');
for (const [name, model, script, play, check = () => true] of SCENARIOS) {
  const double = messagesDouble({ turns: script, split: 'awkward' });
  const answer = await play(await double.start(), model).catch((error) => String(error));
  await double.stop();
  const refused = double.exchanges.flatMap(({ refusals }) => refusals);
  const fine = answer === 'All done.' && refused.length === 0 && check(double.exchanges);
  if (!fine) process.exitCode = 1;
  const rules = refused.map(({ rule, message }) => `${rule}: ${message}`).join('; ') || 'none';
  const ended = fine ? 'as scripted' : String(answer).replace(/\s+/g, ' ').slice(0, 200);
  console.log(`| ${name} | ${PEERS[name]} | ${model} | ${double.exchanges.length} | ${rules} | ${ended} |`);
}

/** The same server behind a gateway of its own. */
const behind = mkdtempSync(join(tmpdir(), 'bridle-peer-'));
writeFileSync(join(behind, '.mcp.json'), JSON.stringify({ mcpServers: { parts: stdio } }));
const gateway = spawn(
  process.execPath,
  [join(root, 'bin', 'bridle.js'), 'gateway', '--json', '--port', '0', '--trust-project', '--allow', 'mcp__parts'],
  {
    cwd: behind,
    env: {
      PATH: process.env.PATH,
      HOME: behind,
      XDG_CONFIG_HOME: behind,
      XDG_STATE_HOME: behind,
      XDG_DATA_HOME: behind,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const [line] = await once(gateway.stdout.setEncoding('utf8'), 'data');
const { url, key } = JSON.parse(line.split('\n')[0]);
const names = { add: 'mcp__parts__add', greet: 'mcp__parts__greet' };
const targets = { stdio, http, 'the gateway': { url, token: key, names } };

console.log('\n| client of MCP | version | over | tools | call | resource | prompt |\n|---|---|---|---|---|---|---|');
const seen = ({ names = { add: 'add' } }) => [[names.add], '{"sum":3}', 'A note.', 'Greet Ada.'];
for (const [name, play] of Object.entries(mcpClients(load, folder))) {
  for (const [over, target] of Object.entries(targets)) {
    const saw = await play(target).catch((error) => [String(error).replace(/\s+/g, ' ').slice(0, 200)]);
    const marks = seen(target).map((right, at) => {
      if (JSON.stringify(saw[at]) === JSON.stringify(right)) return 'yes';
      return saw[at] === null ? '–' : `no: ${JSON.stringify(saw[at] ?? null)}`;
    });
    if (marks.some((mark) => mark.startsWith('no'))) process.exitCode = 1;
    console.log(`| ${name} | ${PEERS[name]} | ${over} | ${marks.join(' | ')} |`);
  }
}
server.disconnect();
gateway.kill();
await once(gateway, 'exit');
rmSync(behind, { recursive: true, force: true });
// Some clients leave timers behind.
process.exit();
