import type { Json, JsonObject } from '../../contracts/index.ts';
import { modelTraits } from '../../models/index.ts';
import { type RuleFacts, report, sdk } from './rule.ts';
import { askOpus, HI } from './samples.ts';
import { blocksIn, type InMessage, isObject, isString, messagesOf, type PlacedMessage } from './shape.ts';

/** What the API can tell of blocks that it gave out. */
export interface Memory {
  /** True for a signature that belongs to this text. */
  knows(text: string, signature: string): boolean;
  /** The thinking blocks of the reply that made this call, or `undefined` for a call of somebody else's. */
  thinkingOf(callId: string): readonly Json[] | undefined;
  /** False where the block was given out in another conversation than the one before it now. */
  belongs(block: JsonObject, body: JsonObject, index: number): boolean;
  /** `tool_changes` of a compaction block as it was given out, or `undefined` where it wasn't. */
  changesOf(signature: string): Json | undefined;
}

/** One thing that the API refuses by what it gave out before. */
export interface MemoryRule extends RuleFacts {
  check(body: JsonObject, memory: Memory): readonly string[];
  /** What breaks it whatever was given out, where there is such a thing. */
  readonly breach?: JsonObject;
}

export function isThinking(block: Json | undefined): block is JsonObject {
  return isObject(block) && (block.type === 'thinking' || block.type === 'redacted_thinking');
}

function thoughts(body: JsonObject): readonly InMessage[] {
  return blocksIn(body, 'thinking');
}

function lastTurn(body: JsonObject): PlacedMessage | undefined {
  return messagesOf(body).findLast(({ role }) => role === 'assistant');
}

function summaries(body: JsonObject): readonly InMessage[] {
  return blocksIn(body, 'compaction').filter(({ block }) => isString(block.content) && block.content !== '');
}

export const MESSAGES_MEMORY_RULES: readonly MemoryRule[] = [
  {
    id: 'thinking-unchanged',
    refuses: 'in which the thinking of the last turn is not as it was given',
    source: report(
      'the API words it "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."',
    ),
    check(body, { thinkingOf }) {
      const turn = lastTurn(body);
      const callId = turn?.blocks.find(({ block }) => block.type === 'tool_use')?.block.id;
      const given = isString(callId) ? thinkingOf(callId) : undefined;
      if (turn === undefined || given === undefined || given.length === 0) return [];
      const now = turn.blocks.filter(({ block }) => isThinking(block));
      const at = given.findIndex((block, index) => JSON.stringify(block) !== JSON.stringify(now[index]?.block));
      // Without any thinking the turn is taken: clients leave it out where a conversation had to change.
      if (now.length === 0 || (at === -1 && now.length === given.length)) return [];
      const where = now[at === -1 ? given.length : at]?.path ?? `${turn.path}.content.0`;
      return [
        `${where}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. ` +
          'These blocks must remain as they were in the original response.',
      ];
    },
  },
  {
    id: 'thinking-signature',
    refuses: 'with a thinking block whose signature does not belong to it',
    source: report('the API words it "Invalid `signature` in `thinking` block"'),
    check: (body, { knows }) =>
      thoughts(body)
        .filter(({ block }) => isString(block.thinking) && isString(block.signature))
        .filter(({ block }) => !knows(String(block.thinking), String(block.signature)))
        .map(({ path }) => `${path}: Invalid \`signature\` in \`thinking\` block`),
    breach: askOpus({
      messages: [
        HI,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'AA==' },
            { type: 'text', text: 'Hello.' },
          ],
        },
        { role: 'user', content: 'And?' },
      ],
    }),
  },
  {
    id: 'thinking-belongs',
    refuses:
      'in which what stood before a thinking block has changed, for a model that binds them (Opus 5.5, Fable and Mythos 5.1)',
    source: sdk('BetaThinkingBlockBinding'),
    check(body, { belongs }) {
      const binding =
        isObject(body.thinking) && isObject(body.thinking.block_binding) ? body.thinking.block_binding : {};
      if (modelTraits(body.model)?.boundThinking !== true || binding.prefix_mismatch_behavior === 'drop_block')
        return [];
      return thoughts(body)
        .filter(({ block, message }) => !belongs(block, body, message.index))
        .map(
          ({ path }) =>
            `${path}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation.`,
        );
    },
  },
  {
    id: 'compaction-signature',
    refuses: 'with a compaction block whose signature is none that was given',
    source: sdk('CompactionSignatureInvalidError'),
    errorCode: 'compaction_signature_invalid',
    check: (body, { changesOf }) =>
      summaries(body)
        .filter(({ block }) => isString(block.signature) && changesOf(block.signature) === undefined)
        .map(({ path }) => `${path}: the signature of the compaction block does not verify`),
    breach: askOpus({
      betas: ['compact-2026-09-04'],
      messages: [
        { role: 'user', content: [{ type: 'compaction', content: 'It was said.', signature: 'AA==' }] },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'And?' },
      ],
    }),
  },
  {
    id: 'compaction-content',
    refuses: 'with a compaction block whose content is not what its signature was given for',
    source: sdk('CompactionContentMismatchError'),
    errorCode: 'compaction_content_mismatch',
    check: (body, { knows, changesOf }) =>
      summaries(body)
        .filter(({ block }) => isString(block.signature) && changesOf(block.signature) !== undefined)
        .filter(({ block }) => !knows(String(block.content), String(block.signature)))
        .map(({ path }) => `${path}: the content of the compaction block differs from what its signature recorded`),
  },
  {
    id: 'compaction-tool-changes',
    refuses: 'with a compaction block whose tool_changes are not as they were given',
    source: sdk('CompactionToolChangesMismatchError'),
    errorCode: 'compaction_tool_changes_mismatch',
    check: (body, { changesOf }) =>
      summaries(body)
        .filter(({ block }) => isString(block.signature))
        .filter(({ block }) => {
          const given = changesOf(String(block.signature));
          return given !== undefined && JSON.stringify(given) !== JSON.stringify(block.tool_changes ?? null);
        })
        .map(({ path }) => `${path}: tool_changes differ from what was returned with the compaction block`),
  },
];
