import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../contracts/index.ts';
import { type MessagesDouble, MESSAGES_MEMORY_RULES, messagesDouble, type ScriptedTurn } from '../index.ts';

type Message = Anthropic.Beta.BetaMessageParam;

const tools = [{ name: 'look', input_schema: { type: 'object' as const } }];
const base = { model: 'claude-haiku-4-5', max_tokens: 100, tools };
const hi: Message = { role: 'user', content: 'Hi' };
const thoughtful: ScriptedTurn = { thinking: 'Which one?', calls: [{ name: 'look', id: 'toolu_1' }] };
const answer: Message = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] };

function clientOf(turns: readonly ScriptedTurn[]): { readonly client: Anthropic; readonly double: MessagesDouble } {
  const double = messagesDouble({ turns });
  const client = new Anthropic({
    apiKey: 'k',
    authToken: null,
    baseURL: 'http://double',
    fetch: double.fetch,
    maxRetries: 0,
  });
  return { client, double };
}

/** What a second request is refused by, when the reply to the first goes back as `change` leaves it. */
async function brokenBy(
  change: (content: Anthropic.Beta.BetaContentBlock[]) => unknown[],
  more: {
    readonly model?: string;
    readonly system?: string;
    readonly first?: Message;
    readonly tools?: Anthropic.Beta.BetaTool[];
  } = {},
): Promise<readonly string[]> {
  const { client, double } = clientOf([thoughtful, 'Done.']);
  const { first = hi, ...fields } = more;
  const model = more.model ?? base.model;
  const reply = await client.beta.messages.create({ ...base, model, messages: [hi] });
  const back = { role: 'assistant', content: change(reply.content) } as Message;
  await client.beta.messages
    .create({ ...base, ...fields, model, messages: [first, back, answer] })
    .catch(() => undefined);
  return double.exchanges[1]?.refusals.map(({ rule }) => rule) ?? [];
}

describe('thinking', () => {
  test('that goes back as it was given is taken', async () => {
    expect(await brokenBy((content) => content)).toEqual([]);
  });

  test('whose words were changed is refused, as its signature says', async () => {
    const change = (content: Anthropic.Beta.BetaContentBlock[]) =>
      content.map((block) => (block.type === 'thinking' ? { ...block, thinking: 'That one.' } : block));
    expect(await brokenBy(change)).toEqual(['thinking-unchanged', 'thinking-signature']);
  });

  test('that stands twice is refused, and none at all is taken', async () => {
    const twice = (content: Anthropic.Beta.BetaContentBlock[]) => [...content.slice(0, 1), ...content];
    expect(await brokenBy(twice)).toEqual(['thinking-unchanged']);
    expect(await brokenBy((content) => content.filter(({ type }) => type !== 'thinking'))).toEqual([]);
  });

  test('stands for the conversation before it on a model that binds it', async () => {
    const opus = 'claude-opus-5-5';
    const same = (content: Anthropic.Beta.BetaContentBlock[]) => content;
    expect(await brokenBy(same, { model: opus })).toEqual([]);
    const marked: Message = {
      role: 'user',
      content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }],
    };
    expect(await brokenBy(same, { model: opus, first: marked })).toEqual([]);
    expect(await brokenBy(same, { model: opus, first: { role: 'user', content: 'Hello' } })).toEqual([
      'thinking-belongs',
    ]);
    expect(await brokenBy(same, { model: opus, system: 'Be brief.' })).toEqual(['thinking-belongs']);
    expect(await brokenBy(same, { first: { role: 'user', content: 'Hello' } })).toEqual([]);
    const later = { name: 'later', defer_loading: true, input_schema: { type: 'object' as const } };
    expect(await brokenBy(same, { model: opus, tools: [...tools, later] })).toEqual([]);
    expect(await brokenBy(same, { model: opus, tools: [...tools, { ...later, defer_loading: false }] })).toEqual([
      'thinking-belongs',
    ]);
  });

  test('of a double that was started anew is known by its signature', async () => {
    const first = await clientOf([thoughtful]).client.beta.messages.create({ ...base, messages: [hi] });
    const { client } = clientOf(['Done.']);
    const back = { role: 'assistant', content: first.content } as Message;
    expect((await client.beta.messages.create({ ...base, messages: [hi, back, answer] })).stop_reason).toBe('end_turn');
  });
});

describe('a compaction', () => {
  const summarised: ScriptedTurn = {
    content: [{ type: 'compaction', content: 'They said hi.', encrypted_content: null, tool_changes: [] }],
    stopReason: 'compaction',
  };
  const compact = { ...base, model: 'claude-opus-5', betas: ['compact-2026-09-04'] };

  async function errorFor(change: (block: JsonObject) => JsonObject): Promise<string | undefined> {
    const { client } = clientOf([summarised, 'Hello again.']);
    const messages = [hi, { role: 'assistant', content: 'Hello.' } as Message, hi];
    const reply = await client.beta.messages.create({ ...compact, compaction: { type: 'summarize' }, messages });
    const [block] = reply.content;
    const back = { role: 'assistant', content: [change(block as unknown as JsonObject)] } as unknown as Message;
    const error: unknown = await client.beta.messages
      .create({ ...compact, messages: [back, hi] })
      .then(() => undefined)
      .catch((reason: unknown) => reason);
    return error instanceof Anthropic.APIError
      ? (error.error as { error: { details?: { error_code: string } } }).error.details?.error_code
      : undefined;
  }

  test('goes back as it was given, with the codes of the SDK where it does not', async () => {
    expect(await errorFor((block) => block)).toBeUndefined();
    expect(await errorFor((block) => ({ ...block, signature: 'AA==' }))).toBe('compaction_signature_invalid');
    expect(await errorFor((block) => ({ ...block, content: 'They said no.' }))).toBe('compaction_content_mismatch');
    expect(await errorFor(({ tool_changes: _gone, ...block }) => block)).toBe('compaction_tool_changes_mismatch');
  });
});

test('what is wrong whatever was given out is refused by its own rule', async () => {
  for (const { id, breach } of MESSAGES_MEMORY_RULES) {
    if (breach === undefined) continue;
    const { client, double } = clientOf(['Hello.']);
    await client.beta.messages.create(breach as never).catch(() => undefined);
    expect(double.exchanges[0]?.refusals.map(({ rule }) => rule)).toEqual([id]);
  }
});
