import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../contracts/index.ts';
import { checkMessagesRequest, MESSAGES_REQUEST_RULES } from '../index.ts';

const tool = { name: 'get_order', description: 'Gets.', input_schema: { type: 'object', properties: {} } };
const call = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool_use',
  id,
  name: 'get_order',
  input: {},
  ...more,
});
const result = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'ok',
  ...more,
});
const text = (words: string): JsonObject => ({ type: 'text', text: words });
const user = (content: Json): JsonObject => ({ role: 'user', content });
const assistant = (content: Json): JsonObject => ({ role: 'assistant', content });
const messages = (...all: JsonObject[]): JsonObject => ({ tools: [tool], messages: all });
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

const VALID: JsonObject = {
  model: 'claude-opus-5',
  max_tokens: 100,
  stream: true,
  system: [{ ...text('Be brief.'), cache_control: { type: 'ephemeral' } }],
  tools: [tool, { type: 'web_search_20260318', name: 'web_search' }, { type: 'computer_toolset_20260801' }],
  tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  messages: [
    user('Hi'),
    assistant([
      { type: 'thinking', thinking: '', signature: 's' },
      text('Looking.'),
      call('a'),
      call('b', { caller: { type: 'direct' } }),
    ]),
    user([
      result('b', { content: [text('two'), image] }),
      result('a', { content: [text('no')], is_error: true }),
      text('Well?'),
    ]),
    { role: 'system', content: 'A note.' },
    assistant([{ type: 'newly_invented', anything: 1 }, text('Done.')]),
    user('Thanks'),
  ],
};

test('a request that uses all of it well passes', () => {
  expect(checkMessagesRequest(VALID)).toEqual([]);
});

test('what a reply may hold goes back: a file of the container, and a paused turn of a run with an output format', () => {
  const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
  const searching = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
  const upload = { type: 'container_upload', file_id: 'file_1' };
  const format = { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } };
  const body = {
    model: 'claude-opus-5-5',
    max_tokens: 100,
    output_config: { format },
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    messages: [user('Hi'), assistant([searching, found, upload, text('I look once more.')])],
  };
  expect(checkMessagesRequest(body)).toEqual([]);
});

/** Other ways to break rules than the least one that each rule brings itself. */
const BROKEN: readonly (readonly [rule: string, why: string, request: JsonObject, says: string])[] = [
  ['known-fields', 'a field of its own', { ...VALID, run_id: 1 }, 'run_id: Extra inputs'],
  ['max-tokens', 'a negative limit', { ...VALID, max_tokens: -1 }, 'max_tokens'],
  ['max-tokens', 'half a token', { ...VALID, max_tokens: 1.5 }, 'max_tokens'],
  ['system', 'a number', { ...VALID, system: 1 }, 'system'],
  ['system', 'an empty block', { ...VALID, system: [text(' ')] }, 'system: text content'],
  ['stop-sequences', 'white space', { ...VALID, stop_sequences: ['\n'] }, 'stop_sequences.0'],
  ['tool-choice-form', 'a string', { ...VALID, tool_choice: 'auto' }, 'tool_choice'],
  ['tool-choice-form', 'no name', { ...VALID, tool_choice: { type: 'tool' } }, 'tool_choice.tool.name'],
  [
    'tool-choice-form',
    'parallel use in none',
    { ...VALID, tool_choice: { type: 'none', disable_parallel_tool_use: true } },
    'Extra inputs',
  ],
  ['tool-choice-needs-tools', 'none to choose from', { ...VALID, tools: [] }, 'while providing tools'],
  [
    'tool-choice-names-a-tool',
    'an unknown name',
    { ...VALID, tool_choice: { type: 'tool', name: 'constructor' } },
    "Tool 'constructor' not found",
  ],
  [
    'tool-choice-direct',
    'a tool only code may call',
    {
      ...VALID,
      tools: [{ ...tool, allowed_callers: ['code_execution_20260120'] }],
      tool_choice: { type: 'tool', name: 'get_order' },
    },
    'allowed_callers',
  ],
  [
    'forced-thinking',
    'manual thinking',
    { ...VALID, tool_choice: { type: 'any' }, thinking: { type: 'enabled', budget_tokens: 1024 } },
    'Thinking may not be enabled',
  ],
  ['forced-empty', 'no tokens', { ...VALID, tool_choice: { type: 'any' }, max_tokens: 0 }, 'max_tokens: 0'],
  [
    'forced-model',
    'a model that refuses it',
    { ...VALID, model: 'claude-opus-5-5', tool_choice: { type: 'any' } },
    'are not supported for this model',
  ],
  [
    'cache-marks',
    'five',
    {
      messages: [user([1, 2, 3, 4, 5].map((n) => ({ ...text(String(n)), cache_control: { type: 'ephemeral' } })))],
    },
    'Found 5',
  ],
  ['tools-list', 'an object', { ...VALID, tools: {}, tool_choice: { type: 'none' } }, 'tools'],
  ['tool-name', 'a dot', { ...VALID, tools: [{ ...tool, name: 'a.b' }] }, 'tools.0.custom.name'],
  ['tool-name', 'too long', { ...VALID, tools: [{ ...tool, name: 'a'.repeat(129) }] }, 'tools.0.custom.name'],
  [
    'toolset-fields',
    'a toolset with a name',
    { ...VALID, tools: [tool, { type: 'computer_toolset_20260801', name: 'x' }] },
    'tools.1.computer_toolset_20260801.name',
  ],
  ['tool-names-unique', 'twice', { ...VALID, tools: [tool, tool] }, 'must be unique'],
  ['tool-fields', 'a field of its own', { ...VALID, tools: [{ ...tool, effect: 'read' }] }, 'effect: Extra inputs'],
  ['tool-fields', 'a flag in words', { ...VALID, tools: [{ ...tool, strict: 'yes' }] }, 'strict'],
  ['input-schema', 'none', { ...VALID, tools: [{ name: 'x' }] }, 'input_schema: Field required'],
  [
    'property-names',
    'a property name',
    { ...VALID, tools: [{ ...tool, input_schema: { type: 'object', properties: { $top: {} } } }] },
    'Property keys should match pattern',
  ],
  ['input-schema', 'no type', { ...VALID, tools: [{ ...tool, input_schema: {} }] }, 'type: Field required'],
  [
    'input-schema',
    'a choice on top',
    { ...VALID, tools: [{ ...tool, input_schema: { type: 'object', anyOf: [] } }] },
    'does not support oneOf',
  ],
  ['strict-closed', 'an open object', { ...VALID, tools: [{ ...tool, strict: true }] }, 'additionalProperties'],
  [
    'strict-closed',
    'an open object inside',
    {
      ...VALID,
      tools: [
        {
          ...tool,
          strict: true,
          input_schema: {
            type: 'object',
            additionalProperties: false,
            properties: { list: { type: 'array', items: { type: 'object' } } },
          },
        },
      ],
    },
    'input_schema.properties.list.items',
  ],
  [
    'strict-count',
    'too many',
    {
      messages: [user('Hi')],
      tools: Array.from({ length: 21 }, (_, n) => ({
        name: `t${n}`,
        strict: true,
        input_schema: { type: 'object', additionalProperties: false },
      })),
    },
    'Too many strict tools (21)',
  ],
  ['not-all-deferred', 'all', { ...VALID, tools: [{ ...tool, defer_loading: true }] }, 'cannot be deferred'],
  ['messages-list', 'none', { messages: [] }, 'at least one message'],
  ['messages-list', 'a string', { messages: 'Hi' }, 'valid list'],
  ['roles', 'an unknown one', messages(user('Hi'), { role: 'tool', content: 'x' }), 'messages.1.role'],
  ['first-is-user', 'the assistant', messages(assistant('Hi'), user('Hi')), 'first message'],
  ['message-fields', 'a whole response', messages(user('Hi'), { ...assistant('x'), id: 'm' }), 'messages.1.id'],
  ['content-not-empty', 'nothing said', messages(user([])), 'non-empty content'],
  ['content-not-empty', 'white space', messages(user(' \n')), 'non-empty content'],
  ['content-not-empty', 'an empty turn in between', messages(user('a'), assistant([]), user('b')), 'messages.1'],
  ['content-not-empty', 'no content', messages({ role: 'user' }), 'messages.0.content'],
  ['block-places', 'a call by the user', messages(user([call('a')])), 'not allowed in user'],
  ['block-places', 'an image by the assistant', messages(user('a'), assistant([image]), user('b')), 'not allowed'],
  ['block-places', 'an unknown block by the user', messages(user([{ type: 'invented' }])), 'not allowed in user'],
  ['block-places', 'a bare string', messages(user(['Hi'])), 'messages.0.content.0'],
  [
    'block-fields',
    'a mark of its own on a result',
    messages(user('a'), assistant([call('a')]), user([result('a', { ms: 5 })])),
    'ms: Extra inputs',
  ],
  ['block-shapes', 'an empty text', messages(user([text('')])), 'must be non-empty'],
  ['block-shapes', 'a blank text', messages(user([text(' \n ')])), 'non-whitespace'],
  [
    'block-shapes',
    'a blank text in a result',
    messages(user('a'), assistant([call('a')]), user([result('a', { content: [text('')] })])),
    'messages.2.content.0.content.0',
  ],
  [
    'block-shapes',
    'an unknown image type',
    messages(user([{ type: 'image', source: { type: 'base64', media_type: 'image/svg+xml', data: 'x' } }])),
    'media_type',
  ],
  [
    'block-shapes',
    'an input in text',
    messages(user('a'), assistant([call('a', { input: '{}' })]), user([result('a')])),
    'input: Input should be a valid dictionary',
  ],
  [
    'block-shapes',
    'an image in a failure',
    messages(user('a'), assistant([call('a')]), user([result('a', { is_error: true, content: [text('no'), image] })])),
    'all content must be type "text"',
  ],
  [
    'block-shapes',
    'a failure without words',
    messages(user('a'), assistant([call('a')]), user([result('a', { is_error: true, content: [] })])),
    'content cannot be empty',
  ],
  [
    'block-shapes',
    'audio in a result',
    messages(user('a'), assistant([call('a')]), user([result('a', { content: [{ type: 'audio' }] })])),
    'tool_result.content.0',
  ],
  ['block-shapes', 'a document of HTML', messages(user([{ type: 'document', source: { type: 'html' } }])), 'document'],
  ['no-trailing-whitespace', 'a prefill', messages(user('a'), assistant('Well, ')), 'trailing whitespace'],
  ['no-trailing-whitespace', 'a block', messages(user('a'), assistant([text('x\n')])), 'trailing whitespace'],
  [
    'call-ids-unique',
    'one id in two turns',
    messages(user('a'), assistant([call('a')]), user([result('a')]), assistant([call('a')]), user([result('a')])),
    'must be unique',
  ],
  ['every-call-answered', 'no answer', messages(user('a'), assistant([call('a')])), 'ids were found without'],
  [
    'every-call-answered',
    'one of two',
    messages(user('a'), assistant([call('a'), call('b')]), user([result('a')])),
    'immediately after: b',
  ],
  [
    'every-call-answered',
    'something in between',
    messages(user('a'), assistant([call('a')]), { role: 'system', content: 'Note' }, user([result('a')])),
    'ids were found without',
  ],
  [
    'every-call-answered',
    'results in two messages',
    messages(user('a'), assistant([call('a'), call('b')]), user([result('a')]), user([result('b')])),
    'immediately after: b',
  ],
  ['every-result-asked-for', 'never asked', messages(user([result('a')])), 'unexpected `tool_use_id`'],
  [
    'every-result-asked-for',
    'answered again later',
    messages(user('a'), assistant([call('a')]), user([result('a')]), user([result('a')])),
    'messages.3',
  ],
  [
    'answered-once',
    'twice',
    messages(user('a'), assistant([call('a')]), user([result('a'), result('a')])),
    'must have a single result',
  ],
  [
    'results-first',
    'text before',
    messages(user('a'), assistant([call('a')]), user([text('Here:'), result('a')])),
    'must come before',
  ],
  [
    'only-results',
    'text while code waits',
    messages(
      user('a'),
      assistant([call('a', { caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } })]),
      user([result('a'), text('And?')]),
    ),
    'only `tool_result` blocks',
  ],
  [
    'only-results',
    'text while the provider still works',
    messages(
      user('a'),
      assistant([{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }, call('a')]),
      user([result('a'), text('And?')]),
    ),
    'only `tool_result` blocks',
  ],
];

describe.each(BROKEN)('%s', (rule, why, request, says) => {
  test(`refuses ${why}`, () => {
    const found = MESSAGES_REQUEST_RULES.find(({ id }) => id === rule)?.check(request) ?? [];
    expect(found.join('\n')).toContain(says);
    expect(checkMessagesRequest(request)).toEqual(expect.arrayContaining([...found]));
  });
});

test('anything at all can be checked without an exception', () => {
  for (const odd of [
    null,
    1,
    'x',
    [],
    {},
    { messages: [null, 1, { content: [null, { type: null }] }], tools: [null] },
  ]) {
    expect(checkMessagesRequest(odd as Json).length).toBeGreaterThan(0);
  }
});
