import type { Json, JsonObject } from '../../contracts/index.ts';
import { modelTraits } from '../../models/index.ts';
import { docs, type Rule, report, sdk } from './rule.ts';
import { ASK, ask, askOpus } from './samples.ts';
import { arrayOf, isObject, isString } from './shape.ts';

const LEAST_BUDGET = 1024;
const TYPES: readonly Json[] = ['enabled', 'disabled', 'adaptive', 'between_tools'];
const MANUAL = { type: 'enabled', budget_tokens: 1024 };
const DROPPING = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } };
const sonnet = (more: JsonObject): JsonObject => ({ ...ASK, model: 'claude-sonnet-5-5', ...more });

function typeOf({ thinking }: JsonObject): Json | undefined {
  return isObject(thinking) ? thinking.type : undefined;
}

export const THINKING_RULES: readonly Rule[] = [
  {
    id: 'thinking-type',
    refuses: 'whose thinking is of an unknown type',
    source: sdk('BetaThinkingConfigParam'),
    check(body) {
      if (body.thinking === undefined) return [];
      return TYPES.includes(typeOf(body) ?? null)
        ? []
        : ["thinking: Input should have a type of 'enabled', 'disabled', 'adaptive' or 'between_tools'"];
    },
    breach: ask({ thinking: { type: 'deep' } }),
    keeps: ask({ thinking: { type: 'disabled' } }),
  },
  {
    id: 'thinking-budget',
    refuses: 'with manual thinking and a budget of less than 1024 tokens',
    source: sdk('BetaThinkingConfigEnabled.budget_tokens'),
    check: ({ thinking }) =>
      isObject(thinking) &&
      thinking.type === 'enabled' &&
      !(typeof thinking.budget_tokens === 'number' && thinking.budget_tokens >= LEAST_BUDGET)
        ? ['thinking.enabled.budget_tokens: Input should be greater than or equal to 1024']
        : [],
    breach: ask({ max_tokens: 2048, thinking: { type: 'enabled', budget_tokens: 100 } }),
    keeps: ask({ max_tokens: 2048, thinking: MANUAL }),
  },
  {
    id: 'thinking-below-max-tokens',
    refuses: 'whose budget of thinking is not below max_tokens',
    source: sdk('BetaThinkingConfigEnabled.budget_tokens'),
    check({ thinking, max_tokens, betas }) {
      const between = arrayOf(betas).some((beta) => isString(beta) && beta.startsWith('interleaved-thinking-'));
      if (!isObject(thinking) || thinking.type !== 'enabled' || between) return [];
      return typeof max_tokens === 'number' && Number(thinking.budget_tokens) >= max_tokens
        ? ['`max_tokens` must be greater than `thinking.budget_tokens`.']
        : [];
    },
    breach: ask({ max_tokens: 1024, thinking: MANUAL }),
    keeps: ask({ max_tokens: 1025, thinking: MANUAL }),
  },
  {
    id: 'thinking-manual-of-model',
    refuses: 'with manual thinking, for a model of 4.7 or later',
    source: docs('Extended thinking: models'),
    check: (body) =>
      typeOf(body) === 'enabled' && modelTraits(body.model)?.manualThinking === false
        ? [
            '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and ' +
              '"output_config.effort" to control thinking behavior.',
          ]
        : [],
    breach: askOpus({ max_tokens: 2048, thinking: MANUAL }),
    keeps: askOpus({ max_tokens: 2048, thinking: { type: 'adaptive' } }),
  },
  {
    id: 'thinking-adaptive-of-model',
    refuses: 'with adaptive thinking, for a model before 4.6',
    source: report('claude-haiku-4-5: "adaptive thinking is not supported on this model"'),
    check: (body) =>
      typeOf(body) === 'adaptive' && modelTraits(body.model)?.adaptiveThinking === false
        ? ['adaptive thinking is not supported on this model']
        : [],
    breach: ask({ thinking: { type: 'adaptive' } }),
    keeps: askOpus({ thinking: { type: 'adaptive' } }),
  },
  {
    id: 'thinking-off-of-model',
    refuses: 'that turns thinking off, for a model which always thinks (Fable and Mythos 5, Sonnet 5.5)',
    source: docs('Migration guides: thinking'),
    check: (body) =>
      typeOf(body) === 'disabled' && modelTraits(body.model)?.thinkingOff === false
        ? ['"thinking.type.disabled" is not supported for this model.']
        : [],
    breach: sonnet({ thinking: { type: 'disabled' } }),
    keeps: sonnet({ thinking: { type: 'between_tools' } }),
  },
  {
    id: 'thinking-between-of-model',
    refuses: 'with thinking between tools, for another model than Sonnet 5.5',
    source: report('claude-haiku-5-5 has no between_tools'),
    check: (body) =>
      typeOf(body) === 'between_tools' && modelTraits(body.model)?.betweenTools === false
        ? ['"thinking.type.between_tools" is not supported for this model.']
        : [],
    breach: askOpus({ thinking: { type: 'between_tools' } }),
    keeps: sonnet({ thinking: { type: 'between_tools' } }),
  },
  {
    id: 'thinking-temperature',
    refuses: 'with manual thinking and a temperature',
    source: report('the API words it "`temperature` may only be set to 1 when thinking is enabled."'),
    check: (body) =>
      typeOf(body) === 'enabled' && typeof body.temperature === 'number' && body.temperature !== 1
        ? ['`temperature` may only be set to 1 when thinking is enabled.']
        : [],
    breach: ask({ max_tokens: 2048, thinking: MANUAL, temperature: 0.5 }),
    keeps: ask({ max_tokens: 2048, thinking: MANUAL, temperature: 1 }),
  },
  {
    id: 'thinking-binding-beta',
    refuses: 'that says what becomes of thinking which does not fit any more, without the beta for that',
    source: docs('Fix a thinking block bound to a different conversation'),
    check: ({ thinking, betas }) =>
      isObject(thinking) &&
      isObject(thinking.block_binding) &&
      !arrayOf(betas).some((beta) => isString(beta) && beta.startsWith('thinking-binding-controls-'))
        ? [`thinking.${String(thinking.type)}.block_binding: Extra inputs are not permitted`]
        : [],
    breach: askOpus({ thinking: DROPPING }),
    keeps: askOpus({ thinking: DROPPING, betas: ['thinking-binding-controls-2026-08-01'] }),
  },
  {
    id: 'thinking-starts-turn',
    refuses: 'with manual thinking, whose last turn of calls does not begin with thinking',
    source: report('the API words it "Expected `thinking` or `redacted_thinking`, but found `tool_use`."'),
    check(body) {
      if (typeOf(body) !== 'enabled') return [];
      const messages = arrayOf(body.messages).filter(isObject);
      // Of the loop that is still open: behind the last words of the user.
      const from = messages.findLastIndex((each) => each.role === 'user' && !arrayOf(each.content).some(isResult));
      const at = messages.findIndex((each, index) => index > from && each.role === 'assistant');
      const [first] = arrayOf(messages[at]?.content).filter(isObject);
      const hasCall = arrayOf(messages[at]?.content).some((block) => isObject(block) && block.type === 'tool_use');
      if (!hasCall || first?.type === 'thinking' || first?.type === 'redacted_thinking') return [];
      return [
        `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first?.type)}\`. ` +
          'When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the ' +
          'lastmost set of `tool_use` and `tool_result` blocks). To avoid this requirement, disable `thinking`.',
      ];
    },
    breach: ask({ max_tokens: 2048, thinking: MANUAL, ...looked() }),
    keeps: ask({ max_tokens: 2048, ...looked() }),
  },
];

function isResult(block: Json): boolean {
  return isObject(block) && block.type === 'tool_result';
}

function looked(): JsonObject {
  return {
    tools: [{ name: 'look', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] },
    ],
  };
}
