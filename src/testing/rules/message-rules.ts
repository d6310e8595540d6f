import type { Json, JsonObject } from '../../contracts/index.ts';
import { modelTraits } from '../../models/index.ts';
import { type Rule, docs, report, sdk } from './rule.ts';
import { ASK, askOpus, assistant, call, HI, IMAGE, result, said, saidWith, text, tool, user } from './samples.ts';
import { arrayOf, isObject, isResumed, isString, messagesOf, type Placed, placed, readOnce } from './shape.ts';

const ROLES: readonly Json[] = ['user', 'assistant', 'system'];
const IMAGE_TYPES: readonly Json[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const CALL_ID = /^[a-zA-Z0-9_-]+$/;
const SERVER_CALL_ID = /^srvtoolu_[a-zA-Z0-9_]+$/;
const CALL_NAME = /^[a-zA-Z0-9_-]{1,200}$/;

/** Where a block of each known type may stand. An assistant's unknown blocks go back as they came, so they pass. */
const PLACES: ReadonlyMap<Json, readonly string[]> = new Map<Json, readonly string[]>([
  ['text', ['user', 'assistant', 'system']],
  ['image', ['user']],
  ['document', ['user']],
  ['search_result', ['user']],
  ['container_upload', ['user', 'assistant']],
  ['tool_result', ['user']],
  ['tool_use', ['assistant']],
  ['server_tool_use', ['assistant']],
  ['mcp_tool_use', ['assistant']],
  ['thinking', ['assistant']],
  ['redacted_thinking', ['assistant']],
  ['compaction', ['assistant', 'user']],
  ['tool_addition', ['system']],
  ['tool_removal', ['system']],
]);

const FIELDS: ReadonlyMap<Json, readonly string[]> = new Map<Json, readonly string[]>([
  ['text', ['type', 'text', 'citations', 'cache_control']],
  ['image', ['type', 'source', 'cache_control']],
  ['document', ['type', 'source', 'title', 'context', 'citations', 'cache_control']],
  ['tool_use', ['type', 'id', 'name', 'input', 'caller', 'toolset_name', 'cache_control']],
  ['tool_result', ['type', 'tool_use_id', 'content', 'is_error', 'toolset_name', 'cache_control']],
  ['thinking', ['type', 'thinking', 'signature']],
]);

const SHAPES: ReadonlyMap<Json, (placed: Placed) => readonly string[]> = new Map<
  Json,
  (placed: Placed) => readonly string[]
>([
  ['text', textShape],
  ['image', imageShape],
  ['document', documentShape],
  ['search_result', searchResultShape],
  ['tool_use', (at) => callShape(at, CALL_ID)],
  ['server_tool_use', (at) => callShape(at, SERVER_CALL_ID)],
  ['tool_result', resultShape],
  ['thinking', ({ path, block }) => required(path, block, ['thinking', 'signature'])],
  ['redacted_thinking', ({ path, block }) => required(path, block, ['data'])],
]);

const RESULT_CONTENT: readonly Json[] = [
  'text',
  'image',
  'document',
  'search_result',
  'tool_reference',
  'browser_state',
];

/** All content blocks of all messages, those inside results included. */
function allBlocks(body: JsonObject): readonly Placed[] {
  return readOnce(body, 'all blocks', () =>
    messagesOf(body).flatMap(({ blocks }) =>
      blocks.flatMap((at) =>
        at.block.type === 'tool_result' ? [at, ...placed(`${at.path}.content`, at.block.content)] : [at],
      ),
    ),
  );
}

export const MESSAGE_RULES: readonly Rule[] = [
  {
    id: 'messages-list',
    refuses: 'whose messages are no list of objects, or empty',
    source: report('the API words it "messages: at least one message is required"'),
    check({ messages, compaction }) {
      if (!Array.isArray(messages)) return ['messages: Input should be a valid list'];
      if (messages.length === 0 && !isObject(compaction)) return ['messages: at least one message is required'];
      return messages.flatMap((message, index) =>
        isObject(message) ? [] : [`messages.${index}: Input should be an object`],
      );
    },
    breach: said(),
    keeps: ASK,
  },
  {
    id: 'roles',
    refuses: 'with a message whose role is none of user, assistant and system',
    source: sdk('BetaMessageParam'),
    check: (body) =>
      messagesOf(body)
        .filter(({ role }) => !ROLES.includes(role ?? null))
        .map(({ path, role }) => `${path}.role: Unexpected role ${JSON.stringify(role ?? null)}`),
    breach: said(HI, { role: 'tool', content: 'x' }),
    keeps: said(HI, assistant('Hello.'), user('And?')),
  },
  {
    id: 'first-is-user',
    refuses: "whose first message is not the user's",
    source: report('the API words it "messages: first message must use the \\"user\\" role"'),
    check(body) {
      const [first] = messagesOf(body);
      // A summary stands in for the user's words before it.
      const summed = first?.role === 'assistant' && first.blocks[0]?.block.type === 'compaction';
      return first === undefined || first.role === 'user' || summed
        ? []
        : ['messages: first message must use the "user" role'];
    },
    breach: said(assistant('Hello.'), HI),
    keeps: ASK,
  },
  {
    id: 'message-fields',
    refuses: 'with a message that has other fields than role and content',
    source: report('the API words it "messages.1.id: Extra inputs are not permitted"'),
    check: (body) =>
      placed('messages', body.messages).flatMap(({ path, block }) =>
        Object.keys(block)
          .filter((field) => !['role', 'content', 'clear_at', 'output_config'].includes(field))
          .map((field) => `${path}.${field}: Extra inputs are not permitted`),
      ),
    breach: said(HI, { ...assistant('Hello.'), id: 'msg_1' }, user('And?')),
    keeps: said(HI, assistant('Hello.'), user('And?')),
  },
  {
    id: 'content-not-empty',
    refuses: 'with an empty message that is not the last one of the assistant',
    source: report(
      'the API words it "all messages must have non-empty content except for the optional final assistant message"',
    ),
    check(body) {
      const messages = messagesOf(body);
      return messages.flatMap(({ path, role, content, index }) => {
        if (!isString(content) && !Array.isArray(content)) {
          return [`${path}.content: Input should be a string or a list of content blocks`];
        }
        if (isString(content) ? content.trim() !== '' : content.length > 0) return [];
        if (role === 'assistant' && index === messages.length - 1) return [];
        return [`${path}: all messages must have non-empty content except for the optional final assistant message`];
      });
    },
    breach: said(user([])),
    keeps: ASK,
  },
  {
    id: 'block-places',
    refuses: "with a block in a message whose role can't have it",
    source: sdk('BetaContentBlockParam'),
    check: (body) =>
      messagesOf(body).flatMap(({ path, role, content, blocks }) => [
        ...arrayOf(content).flatMap((block, index) =>
          isObject(block) && isString(block.type)
            ? []
            : [`${path}.content.${index}: Input should be an object with a type`],
        ),
        ...blocks.flatMap((at) => {
          const places = PLACES.get(at.block.type ?? null);
          if (places === undefined ? role === 'assistant' : places.includes(String(role))) return [];
          return [`${at.path}: ${String(at.block.type)} blocks are not allowed in ${String(role)} messages`];
        }),
      ]),
    breach: said(HI, assistant([IMAGE]), user('And?')),
    keeps: said(user([IMAGE, text('What is it?')])),
  },
  {
    id: 'block-fields',
    refuses: 'with a block that has a field the API does not know',
    source: report('the API words it "… Extra inputs are not permitted"'),
    check: (body) =>
      allBlocks(body).flatMap(({ path, block }) => {
        const allowed = FIELDS.get(block.type ?? null);
        if (allowed === undefined) return [];
        return Object.keys(block)
          .filter((field) => !allowed.includes(field))
          .map((field) => `${path}.${String(block.type)}.${field}: Extra inputs are not permitted`);
      }),
    breach: saidWith([tool()], HI, assistant([call('toolu_1')]), user([result('toolu_1', { ms: 5 })])),
    keeps: saidWith([tool()], HI, assistant([call('toolu_1')]), user([result('toolu_1', { is_error: false })])),
  },
  {
    id: 'block-shapes',
    refuses: 'with a block whose fields have values that the API does not take',
    source: sdk('BetaContentBlockParam'),
    check: (body) => allBlocks(body).flatMap((at) => SHAPES.get(at.block.type ?? null)?.(at) ?? []),
    breach: said(user([text('')])),
    keeps: said(user([text('Hi')])),
  },
  {
    id: 'no-trailing-whitespace',
    refuses: 'that ends with words of the assistant and white space behind them',
    source: report('the API words it "final assistant content cannot end with trailing whitespace"'),
    check(body) {
      const last = messagesOf(body).at(-1);
      if (last?.role !== 'assistant') return [];
      const ending = last.blocks.at(-1)?.block;
      const text = isString(last.content) ? last.content : ending?.type === 'text' ? ending.text : undefined;
      return isString(text) && /\s$/.test(text)
        ? ['messages: final assistant content cannot end with trailing whitespace']
        : [];
    },
    breach: said(HI, assistant('Well, ')),
    keeps: said(HI, assistant('Well,')),
  },
  {
    id: 'prefill-of-model',
    refuses: 'that ends with words of the assistant, for a model of 4.6 or later',
    source: docs('Errors: prefill not supported'),
    check(body) {
      const last = messagesOf(body).at(-1);
      if (last?.role !== 'assistant' || modelTraits(body.model)?.prefill !== false || isResumed(body)) return [];
      return isObject(body.compaction) || body.fallback_credit_token !== undefined
        ? []
        : ['This model does not support assistant message prefill. The conversation must end with a user message.'];
    },
    breach: askOpus({ messages: [HI, assistant('Well,')] }),
    keeps: askOpus({ messages: [HI, assistant('Well.'), user('And?')] }),
  },
];

function required(path: string, block: JsonObject, fields: readonly string[]): readonly string[] {
  return fields
    .filter((field) => !isString(block[field]))
    .map((field) => `${path}.${String(block.type)}.${field}: Input should be a valid string`);
}

function textShape({ path, block }: Placed): readonly string[] {
  if (!isString(block.text)) return required(path, block, ['text']);
  if (block.text === '') return [`${path}: text content blocks must be non-empty`];
  return block.text.trim() === '' ? [`${path}: text content blocks must contain non-whitespace text`] : [];
}

function imageShape({ path, block: { source } }: Placed): readonly string[] {
  const at = `${path}.image.source`;
  if (!isObject(source)) return [`${at}: Field required`];
  if (source.type === 'url') return required(at, source, ['url']);
  if (source.type === 'file') return required(at, source, ['file_id']);
  if (source.type !== 'base64') return [`${at}: Input should have a type of base64, url or file`];
  return [
    ...(IMAGE_TYPES.includes(source.media_type ?? null)
      ? []
      : [`${at}.base64.media_type: Input should be one of ${IMAGE_TYPES.join(', ')}`]),
    ...(isString(source.data) && source.data !== '' ? [] : [`${at}.base64: image cannot be empty`]),
  ];
}

function documentShape({ path, block: { source } }: Placed): readonly string[] {
  const at = `${path}.document.source`;
  if (!isObject(source)) return [`${at}: Field required`];
  switch (source.type) {
    case 'base64':
      return [
        ...(source.media_type === 'application/pdf'
          ? []
          : [`${at}.base64.media_type: Input should be application/pdf`]),
        ...required(at, source, ['data']),
      ];
    case 'text':
      return [
        ...(source.media_type === 'text/plain' ? [] : [`${at}.text.media_type: Input should be text/plain`]),
        ...(isString(source.data) && source.data !== '' ? [] : [`${at}.text.data: document text cannot be empty`]),
      ];
    case 'url':
      return required(at, source, ['url']);
    case 'file':
      return required(at, source, ['file_id']);
    case 'content':
      return isString(source.content) || Array.isArray(source.content) ? [] : [`${at}.content.content: Field required`];
    default:
      return [`${at}: Input should have a type of base64, text, content, url or file`];
  }
}

function searchResultShape({ path, block }: Placed): readonly string[] {
  const wrong = placed('', block.content).some((at) => at.block.type !== 'text');
  return [
    ...required(path, block, ['source', 'title']),
    ...(Array.isArray(block.content) && block.content.length > 0 && !wrong
      ? []
      : [`${path}.search_result.content: Input should be a list of text blocks`]),
  ];
}

function callShape({ path, block }: Placed, ids: RegExp): readonly string[] {
  const at = `${path}.${String(block.type)}`;
  return [
    ...(isString(block.id) && ids.test(block.id) ? [] : [`${at}.id: String should match pattern '${ids.source}'`]),
    ...(isString(block.name) && CALL_NAME.test(block.name)
      ? []
      : [`${at}.name: String should match pattern '${CALL_NAME.source}'`]),
    ...(isObject(block.input) ? [] : [`${at}.input: Input should be a valid dictionary`]),
  ];
}

function resultShape({ path, block }: Placed): readonly string[] {
  const at = `${path}.tool_result`;
  const { content, is_error: isError } = block;
  const list = content === undefined || isString(content) || Array.isArray(content);
  const kinds = arrayOf(content).map((part) => (isObject(part) ? (part.type ?? null) : null));
  return [
    ...(isString(block.tool_use_id) && CALL_ID.test(block.tool_use_id)
      ? []
      : [`${at}.tool_use_id: String should match pattern '${CALL_ID.source}'`]),
    ...(list ? [] : [`${at}.content: Input should be a string or a list of content blocks`]),
    ...kinds.flatMap((kind, index) =>
      RESULT_CONTENT.includes(kind)
        ? []
        : [`${at}.content.${index}: Input should have a type of ${RESULT_CONTENT.join(', ')}`],
    ),
    ...(isError === undefined || typeof isError === 'boolean'
      ? []
      : [`${at}.is_error: Input should be a valid boolean`]),
    ...(isError === true && (content === undefined || content === '' || kinds.length === 0) && !hasText(content)
      ? [`${at}: content cannot be empty if "is_error" is true`]
      : []),
    ...(isError === true && kinds.some((kind) => kind !== 'text')
      ? [`${at}: all content must be type "text" if "is_error" is true`]
      : []),
  ];
}

function hasText(content: Json | undefined): boolean {
  return isString(content) && content !== '';
}
