/**
 * `npm run double:verify`: sends each rule's least breach, and the request that keeps it, to the real API and prints where
 * its answers differ from the double's, and how far the estimates of tokens are off. Needs a build and ANTHROPIC_API_KEY; without a key it says so and ends with 0,
 * and the rules are "as documented". It costs some 300 short requests; `--rule ID` (repeatable) sends only those.
 * ANTHROPIC_BASE_URL may lead elsewhere. `--json` prints JSON. Exit status 1 when something differs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const built = join(root, 'dist', 'testing', 'index.js');
const { values } = parseArgs({ options: { rule: { type: 'string', multiple: true }, json: { type: 'boolean' } } });

const key = process.env.ANTHROPIC_API_KEY?.trim();
if (!key) {
  console.log('ANTHROPIC_API_KEY is not set, so nothing was compared: the rules of the double stand as documented.');
  process.exit(0);
}
if (!existsSync(built)) {
  console.error('There is no build: run npm run build first.');
  process.exit(2);
}
const { MESSAGES_REQUEST_RULES, MESSAGES_HTTP_RULES, MESSAGES_MEMORY_RULES, ESTIMATE_ERROR, estimateTokens } =
  await import(pathToFileURL(built).href);
const url = new URL('/v1/messages', process.env.ANTHROPIC_BASE_URL?.trim() || 'https://api.anthropic.com');
/** Rules that only a request of many megabytes breaks; sent only when they are named. */
const LARGE = new Set(['message-count', 'tools-count', 'size']);
const COUNT_URL = new URL('/v1/messages/count_tokens', url);
const ask = (content) => ({ model: 'claude-haiku-4-5', max_tokens: 16, messages: [{ role: 'user', content }] });
const ASK = { model: 'claude-haiku-4-5', max_tokens: 16, messages: [{ role: 'user', content: 'Hi' }] };

async function send(body, headers = {}, to = url) {
  const usual = { 'x-api-key': key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' };
  const all = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== null);
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(to, { method: 'POST', headers: Object.fromEntries(all), body });
    const text = await answer.text();
    const busy = answer.status === 429 || answer.status >= 500;
    if (!busy || attempt === 5) return { status: answer.status, message: messageIn(text), tokens: tokensIn(text) };
    const wait = Number(answer.headers.get('retry-after') ?? 2 ** attempt);
    await new Promise((resolve) => setTimeout(resolve, wait * 1000));
  }
}

function tokensIn(text) {
  try {
    return JSON.parse(text).input_tokens;
  } catch {
    return undefined;
  }
}

function messageIn(text) {
  try {
    return String(JSON.parse(text).error?.message ?? '');
  } catch {
    return text.slice(0, 200);
  }
}

/** `betas` are a header on the wire. */
function sendBody({ betas, ...body }) {
  return send(JSON.stringify(body), betas?.length > 0 ? { 'anthropic-beta': betas.join(',') } : {});
}

const wanted = ({ id }) => (values.rule === undefined ? !LARGE.has(id) : values.rule.includes(id));
const rows = [];

async function compare(rule, breach, keeps) {
  const refused = await breach();
  const taken = await keeps?.();
  const expected = rule.status ?? 400;
  rows.push({
    rule: rule.id,
    source: rule.source.kind,
    breach: refused.status === expected ? 'as documented' : `HTTP ${refused.status}, not ${expected}`,
    keeps:
      taken === undefined ? '–' : taken.status === 200 ? 'as documented' : `HTTP ${taken.status}: ${taken.message}`,
    drift: refused.status !== expected || (taken !== undefined && taken.status !== 200),
    said: refused.message,
  });
}

for (const rule of MESSAGES_HTTP_RULES.filter(wanted)) {
  await compare(
    rule,
    () => send(rule.breach.body ?? JSON.stringify(ASK), rule.breach.headers),
    () => sendBody(ASK),
  );
}
for (const rule of MESSAGES_REQUEST_RULES.filter(wanted)) {
  await compare(
    rule,
    () => sendBody(rule.breach),
    () => sendBody(rule.keeps),
  );
}
for (const rule of MESSAGES_MEMORY_RULES.filter((each) => wanted(each) && each.breach !== undefined)) {
  await compare(rule, () => sendBody(rule.breach));
}

/** English prose, JSON, and definitions of tools: what the error of the estimate is stated for. */
async function measureEstimates() {
  const prose = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').slice(0, 8_000);
  const schema = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const properties = Object.fromEntries(
    Object.keys(schema.scripts).map((name) => [name.replaceAll(':', '_'), { type: 'string', description: name }]),
  );
  const tools = [{ name: 'run', description: prose.slice(0, 300), input_schema: { type: 'object', properties } }];
  const bodies = { prose: ask(prose), json: ask(JSON.stringify(schema)), tools: { ...ask('Run it.'), tools } };
  const measured = [];
  for (const [what, body] of Object.entries(bodies)) {
    const { max_tokens: _, ...counted } = body;
    const { status, tokens } = await send(JSON.stringify(counted), {}, COUNT_URL);
    const estimate = estimateTokens(body);
    measured.push({ what, status, tokens, estimate, error: tokens ? Math.abs(estimate - tokens) / tokens : null });
  }
  return measured;
}

const estimates = values.rule === undefined ? await measureEstimates() : [];
const drifted = rows.filter(({ drift }) => drift);
if (values.json) console.log(JSON.stringify({ rows, estimates, stated: ESTIMATE_ERROR }, null, 2));
else {
  console.log(`${rows.length} rules compared at ${url.host}, ${drifted.length} differ.`);
  if (drifted.length > 0) {
    console.log(
      '\n| rule | known from | its breach | the request that keeps it | the API said |\n|---|---|---|---|---|',
    );
    const cell = (text) => text.replaceAll('|', '\\|').replace(/\s+/g, ' ');
    for (const { rule, source, breach, keeps, said } of drifted) {
      console.log(`| ${rule} | ${source} | ${cell(breach)} | ${cell(keeps)} | ${cell(said)} |`);
    }
  }
}
const far = estimates.filter(({ error }) => error === null || error > ESTIMATE_ERROR);
if (!values.json) {
  for (const { what, status, tokens, estimate, error } of estimates) {
    const off = error === null ? `HTTP ${status}` : `${tokens} tokens, off by ${(100 * error).toFixed(1)} %`;
    console.log(`count_tokens of ${what}: estimated ${estimate}, ${off} (stated: ${100 * ESTIMATE_ERROR} %)`);
  }
}
process.exitCode = drifted.length > 0 || far.length > 0 ? 1 : 0;
