import type { JsonObject } from '../../contracts/index.ts';
import { type Rule, sdk } from './rule.ts';
import { askOpus, assistant, HI, user } from './samples.ts';
import { arrayOf, blocksIn, type InMessage, isObject, isString, messagesOf } from './shape.ts';

const BETA = 'compact-2026-09-04';
const summary = (content: string): JsonObject => ({ type: 'compaction', content, signature: 'AA==' });
/** A compaction that failed: the API takes it and does nothing with it, whatever its signature. */
const failed: JsonObject = { ...summary(''), content: null };
const compacting = (more: JsonObject = {}): JsonObject =>
  askOpus({
    compaction: { type: 'summarize' },
    betas: [BETA],
    messages: [HI, assistant('Hello.'), user('And?')],
    ...more,
  });
const compacted = (...messages: JsonObject[]): JsonObject => askOpus({ betas: [BETA], messages });

/** Blocks that stand for the conversation before them; one without content failed and stands for nothing. */
function summaries(body: JsonObject): readonly InMessage[] {
  return blocksIn(body, 'compaction').filter(({ block }) => isString(block.content));
}

function asks(body: JsonObject): boolean {
  return isObject(body.compaction);
}

export const COMPACTION_RULES: readonly Rule[] = [
  {
    id: 'compaction-type',
    refuses: 'with a compaction of another type than summarize',
    source: sdk('BetaCompactionConfig'),
    check: ({ compaction }) =>
      compaction === undefined || compaction === null || (isObject(compaction) && compaction.type === 'summarize')
        ? []
        : ["compaction: Input should have type 'summarize'"],
    breach: compacting({ compaction: { type: 'forget' } }),
    keeps: compacting(),
  },
  {
    id: 'compaction-beta',
    refuses: 'with a compaction and without its beta',
    source: sdk('AnthropicBeta: compact-2026-09-04'),
    check: (body) =>
      asks(body) && !arrayOf(body.betas).includes(BETA) ? ['compaction: Extra inputs are not permitted'] : [],
    breach: compacting({ betas: [] }),
    keeps: compacting(),
  },
  {
    id: 'compaction-alone',
    refuses: 'with compaction and context_management both',
    source: sdk('MessageCreateParams.compaction'),
    check: (body) =>
      asks(body) && isObject(body.context_management) ? ['compaction: cannot be combined with context_management'] : [],
    breach: compacting({ context_management: { edits: [] } }),
    keeps: compacting(),
  },
  {
    id: 'compaction-nothing',
    refuses: 'for a compaction of nothing that was said',
    source: sdk('CompactionNothingToSummarizeError'),
    errorCode: 'compaction_nothing_to_summarize',
    check: (body) =>
      asks(body) && messagesOf(body).every(({ role }) => role !== 'user' && role !== 'assistant')
        ? ['compaction: messages holds no user or assistant content to summarize']
        : [],
    breach: compacting({ messages: [] }),
    keeps: compacting(),
  },
  {
    id: 'compaction-complete',
    refuses: 'for a compaction that ends in a turn of the assistant which is not finished',
    source: sdk('CompactionIncompleteTurnError'),
    errorCode: 'compaction_incomplete_turn',
    check(body) {
      const last = messagesOf(body).at(-1);
      const open =
        last?.role === 'assistant' &&
        last.blocks.some(({ block }) => block.type === 'tool_use' || block.type === 'server_tool_use');
      return asks(body) && open ? ['compaction: the conversation ends on an assistant turn that is not finished'] : [];
    },
    breach: compacting({
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      messages: [HI, assistant([{ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }])],
    }),
    keeps: compacting({ messages: [HI, assistant('Hello.')] }),
  },
  {
    id: 'compaction-once',
    refuses: 'with more than one compaction block that has content',
    source: sdk('CompactionBlockAmbiguousError'),
    errorCode: 'compaction_block_ambiguous',
    check: (body) =>
      summaries(body).length > 1
        ? ['messages: more than one compaction block with content was found. Send only the one that was returned last.']
        : [],
    breach: compacted(user([summary('One.'), summary('Two.')]), assistant('Hello.'), user('And?')),
    keeps: compacted(user([failed, failed]), assistant('Hello.'), user('And?')),
  },
  {
    id: 'compaction-first',
    refuses: 'whose compaction block is not the first block of the conversation',
    source: sdk('CompactionBlockMisplacedError'),
    errorCode: 'compaction_block_misplaced',
    check(body) {
      const all = summaries(body);
      const [first] = all;
      if (all.length !== 1 || first === undefined) return [];
      return first.message.index === 0 && first.path === `${first.message.path}.content.0`
        ? []
        : [`${first.path}: the compaction block must be the first block of the conversation`];
    },
    breach: compacted(HI, assistant([summary('One.')]), user('And?')),
    keeps: compacted(HI, assistant([failed]), user('And?')),
  },
  {
    id: 'compaction-not-empty',
    refuses: 'with a compaction block whose content is an empty string',
    source: sdk('BetaCompactionBlockParam'),
    check: (body) =>
      blocksIn(body, 'compaction')
        .filter(({ block }) => block.content === '')
        .map(({ path }) => `${path}.compaction.content: String should have at least 1 character`),
    breach: compacted(user([summary('')]), assistant('Hello.'), user('And?')),
    keeps: compacted(user([failed]), assistant('Hello.'), user('And?')),
  },
];
