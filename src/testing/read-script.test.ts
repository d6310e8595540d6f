import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { messagesDouble, modelTurns, readScript, scriptedModel } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'bridle-script-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(text: string): string {
  const path = join(folder, 'turns.json');
  writeFileSync(path, text);
  return path;
}

const HEADERS = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };
const request = (more: object = {}): RequestInit => ({
  method: 'POST',
  headers: HEADERS,
  body: JSON.stringify({ model: 'claude-opus-5', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...more }),
});

interface Body {
  content?: { type: string }[];
  id?: string;
}

test('a file may hold texts, replies, faults and recorded bodies', async () => {
  const recorded = {
    type: 'message',
    id: 'msg_1',
    content: [{ type: 'text', text: 'As it was.' }],
    stop_reason: 'end_turn',
  };
  const script = [
    'Hello.',
    { found: ['look'], serverCalls: [{ name: 'web_search', input: { query: 'x' }, result: [] }], text: 'Well.' },
    { calls: [{ name: 'look', caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } }] },
    { calls: [{ name: 'left_click', toolset_name: 'computer' }] },
    { fault: { kind: 'overloaded' } },
    recorded,
  ];
  const double = messagesDouble({ turns: await readScript(fileWith(JSON.stringify(script))) });
  const bodies: Body[] = [];
  for (const _turn of script)
    bodies.push((await (await double.fetch('http://double/v1/messages', request())).json()) as Body);
  expect(bodies.map(({ content }) => content?.map(({ type }) => type) ?? 'error')).toEqual([
    ['text'],
    ['text', 'server_tool_use', 'tool_search_tool_result', 'server_tool_use', 'web_search_tool_result'],
    ['tool_use'],
    ['tool_use'],
    'error',
    ['text'],
  ]);
  expect(bodies[2]?.content?.[0]).toMatchObject({ caller: { tool_id: 'srvtoolu_1' } });
  expect(bodies[3]?.content?.[0]).toMatchObject({ toolset_name: 'computer' });
  expect(bodies[5]?.id).toBe('msg_1');
});

test.each([
  ['{', 'no JSON'],
  ['{}', 'no list'],
  ['[1]', 'turn 1 is neither'],
  ['["a", {"txet": "b"}]', "turn 2 has an unknown field 'txet'"],
  ['[{"fault": {"kind": "constructor"}}]', 'turn 1 has a fault'],
])('%s is refused', async (text, says) => {
  await expect(readScript(fileWith(text))).rejects.toMatchObject({
    code: 'script_unreadable',
    message: expect.stringContaining(says),
  });
});

test('a file that is not there is refused by its name', async () => {
  await expect(readScript(join(folder, 'none.json'))).rejects.toThrow(/none\.json/);
});

test('a model can reply as well, and what it can not do is an error of the server', async () => {
  const double = messagesDouble({ turns: modelTurns(scriptedModel(['From a model.'])) });
  expect(await (await double.fetch('http://double/v1/messages', request())).text()).toContain('From a model.');
  expect((await double.fetch('http://double/v1/messages', request())).status).toBe(500);
});
