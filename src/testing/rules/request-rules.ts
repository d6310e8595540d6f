import type { Json, JsonObject } from '../../contracts/index.ts';
import { modelFacts, modelTraits } from '../../models/index.ts';
import { assumed, docs, type Rule, report, sdk } from './rule.ts';
import { ASK, ask, askOpus, HI, MARK, text, user } from './samples.ts';
import { arrayOf, blocksIn, isObject, isResumed, isString, messagesOf } from './shape.ts';

const FIELDS = new Set([
  'billing_policy',
  'cache_control',
  'compaction',
  'container',
  'context_management',
  'diagnostics',
  'fallback_credit_token',
  'fallbacks',
  'inference_geo',
  'max_tokens',
  'mcp_servers',
  'messages',
  'metadata',
  'model',
  'output_config',
  'output_format',
  'service_tier',
  'speed',
  'stop_sequences',
  'stream',
  'system',
  'temperature',
  'thinking',
  'thread',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
  // Sent as headers by the SDK, so part of a request here.
  'betas',
  'user_profile_id',
  'workspace_id',
]);
const MOST_MESSAGES = 100_000;
const EFFORTS: readonly Json[] = ['low', 'medium', 'high', 'xhigh', 'max'];
const SAMPLING = ['temperature', 'top_p', 'top_k'];

/** Present, and not told to be as if it weren't. */
function isGiven(value: Json | undefined): value is Json {
  return value !== undefined && value !== null;
}

export const REQUEST_RULES: readonly Rule[] = [
  {
    id: 'known-fields',
    refuses: 'with a field that the API does not know',
    source: report('the API words it "Extra inputs are not permitted"'),
    check: (body) =>
      Object.keys(body)
        .filter((field) => !FIELDS.has(field))
        .map((field) => `${field}: Extra inputs are not permitted`),
    breach: ask({ run_id: 1 }),
    keeps: ASK,
  },
  {
    id: 'max-tokens',
    refuses: 'whose max_tokens is no whole number of 0 or more',
    source: sdk('MessageCreateParams.max_tokens'),
    check({ max_tokens }) {
      if (max_tokens === undefined) return [];
      const fine = Number.isInteger(max_tokens) && Number(max_tokens) >= 0;
      return fine ? [] : ['max_tokens: Input should be a whole number, 0 or greater'];
    },
    breach: ask({ max_tokens: -1 }),
    keeps: ask({ max_tokens: 1 }),
  },
  {
    id: 'max-tokens-of-model',
    refuses: 'that asks for more tokens than the model can give',
    source: report('the API words it "max_tokens: X > Y, which is the maximum allowed number of output tokens for …"'),
    check({ max_tokens, model, betas }) {
      const most = isString(model) ? modelFacts(model)?.maxOutput : undefined;
      const longer = arrayOf(betas).some((beta) => isString(beta) && /^output-\d+k-/.test(beta));
      return most === undefined || longer || Number(max_tokens ?? 0) <= most
        ? []
        : [
            `max_tokens: ${String(max_tokens)} > ${most}, which is the maximum allowed number of output tokens for ${String(model)}`,
          ];
    },
    breach: ask({ max_tokens: 1_000_000, stream: true }),
    keeps: ASK,
  },
  {
    id: 'message-count',
    refuses: 'with more than 100,000 messages',
    source: sdk('MessageCreateParams.messages'),
    check: ({ messages }) =>
      arrayOf(messages).length > MOST_MESSAGES
        ? [
            `messages: List should have at most ${MOST_MESSAGES} items after validation, not ${arrayOf(messages).length}`,
          ]
        : [],
    // Made when somebody looks, because it is large.
    get breach() {
      return { ...ASK, messages: new Array<JsonObject>(MOST_MESSAGES + 1).fill(HI) };
    },
    keeps: ASK,
  },
  {
    id: 'system',
    refuses: 'whose system prompt is neither a string nor a list of texts with something in them',
    source: sdk('MessageCreateParams.system'),
    check({ system }) {
      if (system === undefined || isString(system)) return [];
      if (!Array.isArray(system)) return ['system: Input should be a string or a list of text blocks'];
      return system.flatMap((block, index) => {
        if (!isObject(block) || block.type !== 'text' || !isString(block.text)) {
          return [`system.${index}: Input should be a text block`];
        }
        return block.text.trim() === '' ? ['system: text content blocks must be non-empty'] : [];
      });
    },
    breach: ask({ system: [text(' ')] }),
    keeps: ask({ system: [text('Be brief.')] }),
  },
  {
    id: 'stop-sequences',
    refuses: 'with a stop sequence of nothing but white space',
    source: report('the API words it "stop_sequences: each stop sequence must contain non-whitespace"'),
    check: ({ stop_sequences }) =>
      arrayOf(stop_sequences).flatMap((sequence, index) =>
        isString(sequence) && sequence.trim() !== ''
          ? []
          : [`stop_sequences.${index}: each stop sequence must contain non-whitespace`],
      ),
    breach: ask({ stop_sequences: ['\n'] }),
    keeps: ask({ stop_sequences: ['END'] }),
  },
  {
    id: 'sampling-range',
    refuses: 'whose temperature or top_p is not between 0 and 1',
    source: docs('Errors: 400 validation errors'),
    check: (body) =>
      ['temperature', 'top_p'].flatMap((field) => {
        const value = body[field];
        return !isGiven(value) || (typeof value === 'number' && value >= 0 && value <= 1)
          ? []
          : [`${field}: Input should be a number between 0 and 1`];
      }),
    breach: ask({ temperature: 1.5 }),
    keeps: ask({ temperature: 1 }),
  },
  {
    id: 'sampling-pair',
    refuses: 'with temperature and top_p both',
    source: report('claude-haiku-4-5, claude-sonnet-4-5 and -4-6, claude-opus-4-5 and -4-6'),
    check: ({ temperature, top_p, model }) =>
      isGiven(temperature) && isGiven(top_p) && modelTraits(model) !== undefined
        ? ['`temperature` and `top_p` cannot both be specified for this model. Please use only one.']
        : [],
    breach: ask({ temperature: 0.5, top_p: 0.5 }),
    keeps: ask({ temperature: 0.5 }),
  },
  {
    id: 'sampling-of-model',
    refuses: 'that sets temperature, top_p or top_k for a model of 4.7 or later',
    source: docs('Migration guide: sampling parameters'),
    check: (body) =>
      modelTraits(body.model)?.sampling === false
        ? SAMPLING.filter((field) => isGiven(body[field]) && !(field !== 'top_k' && body[field] === 1)).map(
            (field) => `\`${field}\` is deprecated for this model.`,
          )
        : [],
    breach: askOpus({ temperature: 0.5 }),
    keeps: askOpus({}),
  },
  {
    id: 'effort',
    refuses: 'whose output_config.effort is none of low, medium, high, xhigh and max',
    source: sdk('BetaOutputConfig.effort'),
    check: ({ output_config }) =>
      isObject(output_config) && isGiven(output_config.effort) && !EFFORTS.includes(output_config.effort)
        ? [`output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'`]
        : [],
    breach: askOpus({ output_config: { effort: 'most' } }),
    keeps: askOpus({ output_config: { effort: 'low' } }),
  },
  {
    id: 'effort-of-model',
    refuses: 'with an effort for a model without one (Haiku 4.5)',
    source: report('claude-haiku-4-5: "This model does not support the effort parameter."'),
    check: ({ output_config, model }) =>
      isObject(output_config) && isGiven(output_config.effort) && modelTraits(model)?.effort === false
        ? ['This model does not support the effort parameter.']
        : [],
    breach: ask({ output_config: { effort: 'low' } }),
    keeps: askOpus({ output_config: { effort: 'low' } }),
  },
  {
    id: 'one-output-format',
    refuses: 'with output_format and output_config.format both',
    source: sdk('assertOneOutputFormat'),
    check: ({ output_config, output_format }) =>
      isGiven(output_format) && isObject(output_config) && isGiven(output_config.format)
        ? ['output_format: output_format and output_config.format cannot both be specified']
        : [],
    breach: ask({
      output_format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } },
      output_config: { format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } } },
    }),
    keeps: ask({
      output_config: { format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } } },
    }),
  },
  {
    id: 'format-without-citations',
    refuses: 'with an output format and documents to be cited',
    source: docs('Structured outputs: incompatible with citations'),
    check: (body) => {
      const { output_config: config } = body;
      if (!isObject(config) || !isGiven(config.format)) return [];
      return blocksIn(body, 'document', 'search_result')
        .filter(({ block }) => isObject(block.citations) && block.citations.enabled === true)
        .map(({ path }) => `${path}: citations cannot be enabled together with output_config.format`);
    },
    breach: ask({ output_config: OUTPUT(), messages: [user([cited(true), text('What is in it?')])] }),
    keeps: ask({ output_config: OUTPUT(), messages: [user([cited(false), text('What is in it?')])] }),
  },
  {
    id: 'format-without-prefill',
    refuses: 'with an output format and a beginning of the answer',
    source: docs('Structured outputs: incompatible with message prefilling'),
    check: (body) => {
      const { output_config: config } = body;
      const last = messagesOf(body).at(-1);
      const begun =
        last?.role === 'assistant' && (isString(last.content) ? last.content !== '' : endsInText(last.blocks));
      return isObject(config) && isGiven(config.format) && begun && !isResumed(body)
        ? ['output_config.format: Prefilling the assistant message is not supported with structured outputs']
        : [];
    },
    breach: ask({ output_config: OUTPUT(), messages: [user('Hi'), { role: 'assistant', content: '{' }] }),
    keeps: ask({ output_config: OUTPUT() }),
  },
  {
    id: 'cache-control-shape',
    refuses: 'whose cache_control is neither ephemeral nor null, or lasts neither 5m nor 1h',
    source: sdk('BetaCacheControlEphemeral'),
    check: (body) => {
      const { cache_control: mark } = body;
      if (!isGiven(mark)) return [];
      const fine = isObject(mark) && mark.type === 'ephemeral' && [undefined, '5m', '1h'].includes(ttlOf(mark));
      return fine ? [] : ["cache_control: Input should have type 'ephemeral' and a ttl of '5m' or '1h'"];
    },
    breach: ask({ cache_control: { type: 'ephemeral', ttl: '2h' } }),
    keeps: ask(MARK),
  },
  {
    id: 'context-management-beta',
    refuses: 'with context_management and without its beta',
    source: assumed('the SDK sends it with context-management-2025-06-27 or compact-2026-01-12'),
    check: ({ context_management, betas }) =>
      isGiven(context_management) &&
      !arrayOf(betas).some((beta) => isString(beta) && /^(?:context-management-|compact-)/.test(beta))
        ? ['context_management: Extra inputs are not permitted']
        : [],
    breach: ask({ context_management: { edits: [] } }),
    keeps: ask({ context_management: { edits: [] }, betas: ['context-management-2025-06-27'] }),
  },
];

function OUTPUT(): JsonObject {
  return {
    format: {
      type: 'json_schema',
      schema: {
        type: 'object',
        properties: { a: { type: 'string' } },
        required: ['a'],
        additionalProperties: false,
      },
    },
  };
}

function cited(enabled: boolean): JsonObject {
  return {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: 'A note.' },
    citations: { enabled },
  };
}

function endsInText(blocks: ReturnType<typeof messagesOf>[number]['blocks']): boolean {
  return blocks.at(-1)?.block.type === 'text';
}

function ttlOf(mark: JsonObject): string | undefined {
  return isString(mark.ttl) ? mark.ttl : mark.ttl === undefined ? undefined : 'unknown';
}
