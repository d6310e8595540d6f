import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { playCassette, recordCassette } from '../cassette/index.ts';
import { anthropicModel } from '../models/index.ts';
import { cassetteTurns } from './cassette-turns.ts';
import { messagesDouble } from './double/messages-double.ts';
import { scriptedModel } from './scripted-model.ts';

test('the double serves a cassette to the real client, and only to the requests that were recorded', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'bridle-cassette-'));
  const file = join(dir, 'c.jsonl');
  const id = 'claude-opus-4-8';
  const request = { max_tokens: 100, messages: [{ role: 'user', content: 'How are you?' }] };
  const ctx = { signal: new AbortController().signal };
  try {
    const tape = await recordCassette(file, { model: id });
    await tape.model(scriptedModel(['Well.'], { id })).respond(request, ctx);
    await tape.close();
    const double = messagesDouble({ turns: cassetteTurns(await playCassette(file)) });
    const baseURL = await double.start();
    try {
      const model = anthropicModel(id, { apiKey: 'key', baseURL, maxRetries: 0 });
      const reply = await model.respond(request, ctx);
      expect(reply.message).toMatchObject({ content: [{ type: 'text', text: 'Well.' }], stop_reason: 'end_turn' });
      const other = { ...request, messages: [{ role: 'user', content: 'And you?' }] };
      await expect(model.respond(other, ctx)).rejects.toThrow();
    } finally {
      await double.stop();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
