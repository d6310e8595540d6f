/**
 * `npm run test:peers`: other people's clients against the double, unchanged: Claude Code's command line and the Vercel AI
 * SDK's provider. `npm run test:peers -- --install` first puts them, at the exact versions below, into .cache/peers; they
 * are no dependencies and no part of CI. Needs a build. Exit status 1 when a client doesn't get through, or sends what
 * the double refuses.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PEERS = {
  '@anthropic-ai/claude-code': '2.1.332',
  '@ai-sdk/anthropic': '4.0.105',
  ai: '7.0.173',
};
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, '.cache', 'peers');
const built = join(root, 'dist', 'testing', 'index.js');
if (!existsSync(built)) {
  console.error('There is no build: run npm run build first.');
  process.exit(2);
}
if (process.argv.includes('--install')) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: PEERS }, null, 2));
  const { status } = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(2);
}
if (!existsSync(join(folder, 'node_modules'))) {
  console.error('The clients are not there: run npm run test:peers -- --install, which needs the network.');
  process.exit(2);
}
const { messagesDouble } = await import(pathToFileURL(built).href);
const load = async (name) => {
  const { resolve } = createRequire(join(folder, 'package.json'));
  return import(pathToFileURL(resolve(name)).href);
};

/** Two calls at once with thinking before them, one more after their results, then an answer. */
const turns = (first, second) => [
  { thinking: 'Two at once.', text: 'Looking.', calls: first },
  { thinking: 'One more.', calls: second },
  'All done.',
];

/** Claude Code without a person, in folders of its own. */
async function claudeCode(url, model) {
  const home = mkdtempSync(join(tmpdir(), 'bridle-peer-'));
  const binary = join(
    folder,
    'node_modules',
    '@anthropic-ai',
    `claude-code-${process.platform}-${process.arch}`,
    'claude',
  );
  const args = ['-p', 'Look around.', '--model', model, '--output-format', 'json', '--allowedTools', 'Bash'];
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
const SCENARIOS = [
  ['@anthropic-ai/claude-code', 'claude-opus-5-5', bashTurns, claudeCode],
  ['@anthropic-ai/claude-code', 'claude-haiku-4-5', bashTurns, claudeCode],
  ['@ai-sdk/anthropic', 'claude-opus-5-5', lookTurns, (url, model) => aiSdk(url, model, true)],
  ['@ai-sdk/anthropic', 'claude-haiku-4-5', lookTurns, (url, model) => aiSdk(url, model, false)],
];

console.log('| client | version | model | requests | refused | ended |\n|---|---|---|---|---|---|');
for (const [name, model, script, play] of SCENARIOS) {
  const double = messagesDouble({ turns: script, split: 'awkward' });
  const answer = await play(await double.start(), model).catch((error) => String(error));
  await double.stop();
  const refused = double.exchanges.flatMap(({ refusals }) => refusals);
  const fine = answer === 'All done.' && refused.length === 0;
  if (!fine) process.exitCode = 1;
  const rules = refused.map(({ rule, message }) => `${rule}: ${message}`).join('; ') || 'none';
  const ended = fine ? 'as scripted' : String(answer).replace(/\s+/g, ' ').slice(0, 200);
  console.log(`| ${name} | ${PEERS[name]} | ${model} | ${double.exchanges.length} | ${rules} | ${ended} |`);
}
