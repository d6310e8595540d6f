/**
 * `npm run double:verify`: sends each rule's least breach, and the request that keeps it, to the real API and prints where
 * its answers differ from the double's. Needs a build and ANTHROPIC_API_KEY; without a key it says so and ends with 0,
 * and the rules are "as documented". It costs some 300 short requests; `--rule ID` (repeatable) sends only those.
 * ANTHROPIC_BASE_URL may lead elsewhere. `--json` prints JSON. Exit status 1 when something differs.
 */
import { existsSync } from 'node:fs';
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
const { MESSAGES_REQUEST_RULES, MESSAGES_HTTP_RULES, MESSAGES_MEMORY_RULES } = await import(pathToFileURL(built).href);
const url = new URL('/v1/messages', process.env.ANTHROPIC_BASE_URL?.trim() || 'https://api.anthropic.com');
/** Rules that only a request of many megabytes breaks; sent only when they are named. */
const LARGE = new Set(['message-count', 'tools-count', 'size']);
const ASK = { model: 'claude-haiku-4-5', max_tokens: 16, messages: [{ role: 'user', content: 'Hi' }] };

async function send(body, headers = {}) {
  const usual = { 'x-api-key': key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' };
  const all = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== null);
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(url, { method: 'POST', headers: Object.fromEntries(all), body });
    const text = await answer.text();
    const busy = answer.status === 429 || answer.status >= 500;
    if (!busy || attempt === 5) return { status: answer.status, message: messageIn(text) };
    const wait = Number(answer.headers.get('retry-after') ?? 2 ** attempt);
    await new Promise((resolve) => setTimeout(resolve, wait * 1000));
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

const drifted = rows.filter(({ drift }) => drift);
if (values.json) console.log(JSON.stringify(rows, null, 2));
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
process.exitCode = drifted.length > 0 ? 1 : 0;
