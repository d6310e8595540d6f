/** What servers ask is in the audit: in the middle of a call, and while what a person names is read for them. */

import { type ContentSource, contentSource, defineResource, defineTool, toolHost } from 'bridle';
import { serve } from 'bridle/server';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AuditRecord } from '../src/policy/audit/audit-record.ts';
import { rawFrom } from '../src/tools/index.ts';
import { auditPlace } from './helpers/audit-place.ts';
import { type Home, newHome } from './helpers/home.ts';
import { bridle } from './helpers/terminal.ts';

const LONG = 300_000;
const requestedSchema = { type: 'object', properties: { part: { type: 'string' } }, required: ['part'] };
const QUESTION = { method: 'elicitation/create', params: { mode: 'form', message: 'Which part?', requestedSchema } };

let at: Home;
let close: () => Promise<void>;
beforeEach(async () => {
  at = await newHome();
  const own = contentSource({ resources: [defineResource({ uri: 'docs://long', name: 'long', read: () => '' })] });
  const source: ContentSource = {
    ...own,
    async read(uri, { answers }) {
      if (!answers) return { kind: 'input_required', requests: rawFrom({ part: QUESTION }), state: 'first' };
      const text = JSON.stringify(answers.responses);
      return { kind: 'result', raw: rawFrom({ contents: [{ uri, text }] }), isError: false };
    },
  };
  const ask = defineTool({ name: 'pick', description: 'Picks a part.', input: { type: 'object' } }, async (_, ctx) =>
    JSON.stringify(await ctx.ask('Which part?', requestedSchema)),
  );
  const handle = await serve(await toolHost({ tools: [ask], content: [source] }), { http: { port: 0, token: false } });
  close = () => handle.close();
  await at.servers({ docs: { type: 'http', url: handle.url } });
});
afterEach(async () => {
  await close();
  await at.remove();
});

async function questions(): Promise<Extract<AuditRecord, { type: 'question' }>['question'][]> {
  const { stdout } = await bridle(['audit', 'export'], at);
  const records = stdout
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AuditRecord);
  expect(JSON.parse((await bridle(['audit', 'verify', '--json'], at)).stdout)).toMatchObject({ ok: true });
  return records.flatMap((record) => (record.type === 'question' ? [record.question] : []));
}

const read = { who: { agent: 'main', via: 'terminal' }, server: 'docs', tool: 'docs://long', part: 'resource' };

test(
  'that a person answered while their words were made ready for a run',
  async () => {
    const words = ['run', 'What is in @docs:docs://long?', '--trust-project'];
    const { stderr } = await bridle(words, { ...at, types: ['chapter 2', 'y'] });
    expect(stderr).toContain('Which part?');
    const found = await questions();
    expect(found).toMatchObject([
      { ...read, method: 'elicitation/create', action: 'accept', answer: { content: { part: 'chapter 2' } } },
    ]);
    const trace = (await bridle(['trace', 'show', '--json'], at)).stdout;
    expect(trace).toContain('"type":"question"');
    expect(trace).toContain(`"conversation":"${found[0]?.conversation}"`);
  },
  LONG,
);

test(
  'that nobody could answer in a chat',
  async () => {
    await bridle(['chat', '--trust-project'], { ...at, piped: 'What is in @docs:docs://long?\n' });
    expect(await questions()).toMatchObject([{ ...read, action: 'decline' }]);
  },
  LONG,
);

test(
  'in the middle of a call',
  async () => {
    const words = ['run', 'Pick a part.', '--trust-project', '--allow', 'mcp__docs__pick'];
    await bridle(words, { ...at, types: ['chapter 3', 'y'] });
    expect(await questions()).toMatchObject([
      { server: 'docs', tool: 'pick', action: 'accept', answer: { content: { part: 'chapter 3' } } },
    ]);
    const id = (await questions())[0]?.id ?? '';
    const shown = (await bridle(['audit', 'show', id], at)).stdout;
    expect(shown).toMatch(/^question +elicitation\/create .*Which part\?.*: accept .*chapter 3/m);
  },
  LONG,
);

test('without what is named like a secret, and by digests alone where that is wanted', async () => {
  const record = {
    callId: 'c',
    conversation: 'v',
    who: { agent: 'main', via: 'library' } as const,
    server: 'docs',
    tool: 'pick',
    request: QUESTION,
    answer: { action: 'accept', content: { password: 'hunter22', part: 'two' } },
    error: 'hunter22 is wrong',
    ms: 1,
  };
  const place = auditPlace();
  const kept = place.recorder('w');
  const digests = place.recorder('x', { arguments: 'digest' });
  for (const audit of [kept, digests]) {
    audit.question(record);
    await audit.close();
  }
  const [first, second] = [(await place.records('w'))[1], (await place.records('x'))[1]];
  expect(first).toMatchObject({ question: { answer: { content: { part: 'two' } }, action: 'accept' } });
  expect(second).toMatchObject({ question: { method: 'elicitation/create', action: 'accept' } });
  expect(JSON.stringify(first)).not.toContain('hunter22');
  expect(JSON.stringify(second)).not.toMatch(/hunter22|Which part|two/);
  expect(second).toMatchObject({
    question: { answerDigest: (first as { question: { answerDigest: string } }).question.answerDigest },
  });
  await place.remove();
});
