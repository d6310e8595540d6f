import { afterEach, expect, test } from 'vitest';
import { extract, recordType } from '../src/agent/index.ts';
import type { Model } from '../src/contracts/index.ts';
import { anthropicModel } from '../src/models/index.ts';
import { type MessagesDouble, messagesDouble, scriptedModel } from '../src/testing/index.ts';
import { BridleError } from '../src/tools/index.ts';

let double: MessagesDouble | undefined;

afterEach(async () => {
  await double?.stop();
  double = undefined;
});

const invoice = recordType({
  name: 'invoice',
  description: 'An invoice.',
  schema: { type: 'object', properties: { total: { type: ['number', 'null'] } }, required: ['total'] },
});

async function play(id: string) {
  const served = messagesDouble({ turns: [{ calls: [{ name: 'extract_invoice', input: { total: 5 } }] }] });
  double = served;
  const model = anthropicModel(id, { apiKey: 'any', baseURL: await served.start(), maxRetries: 0 });
  const verified = { type: 'invoice', by: 'the inbox' };
  return { extraction: await extract({ model, input: 'Total: 5', types: [invoice], verified }), double: served };
}

test('a model that can be forced is forced to fill the record', async () => {
  const { extraction, double: served } = await play('claude-sonnet-4-6');
  expect(extraction).toMatchObject({ status: 'extracted', value: { total: 5 }, warnings: [] });
  expect(served.requests).toMatchObject([{ tool_choice: { type: 'tool', name: 'extract_invoice' } }]);
});

test('one that is known to refuse that is asked in words, with a strict tool, and that is said', async () => {
  const { extraction, double: served } = await play('claude-opus-5-5');
  expect(extraction).toMatchObject({
    status: 'extracted',
    value: { total: 5 },
    warnings: [{ code: 'tool_choice_refused' }],
  });
  expect(served.requests).toMatchObject([
    { tools: [{ name: 'extract_invoice', strict: true }], tool_choice: { type: 'auto' } },
  ]);
  expect(JSON.stringify(served.requests[0]?.messages)).toContain('Call the tool extract_invoice before you answer.');
});

test('one that turns out to refuse that is asked once more, in words, and that is said', async () => {
  const scripted = scriptedModel([{ calls: [{ name: 'extract_invoice', input: { total: 5 } }] }]);
  const model: Model = {
    id: 'new',
    async respond(request, ctx) {
      const { tool_choice } = request as { readonly tool_choice?: { readonly type: string } };
      if (tool_choice?.type === 'tool') throw new BridleError('model_request_refused', 'It takes no forced call.');
      return scripted.respond(request, ctx);
    },
  };
  const verified = { type: 'invoice', by: 'the inbox' };
  expect(await extract({ model, input: 'Total: 5', types: [invoice], verified })).toMatchObject({
    status: 'extracted',
    value: { total: 5 },
    warnings: [{ code: 'tool_choice_refused' }],
  });
  expect(JSON.stringify(scripted.requests[0])).toContain('Call one of the tools before you answer.');
});
