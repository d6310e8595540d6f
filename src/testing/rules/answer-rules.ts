import type { JsonObject } from '../../contracts/index.ts';
import type { Rule } from './rule.ts';
import { blocksOfType, isObject, isString, messagesOf, type Placed, type PlacedMessage } from './shape.ts';

/** Each assistant message with the message after it. */
function turns(
  body: JsonObject,
): readonly { readonly turn: PlacedMessage; readonly next: PlacedMessage | undefined }[] {
  const messages = messagesOf(body);
  return messages.filter(({ role }) => role === 'assistant').map((turn) => ({ turn, next: messages[turn.index + 1] }));
}

function ids(blocks: readonly Placed[], field: string): readonly string[] {
  return blocks.map(({ block }) => block[field]).filter(isString);
}

/** Only a user message can answer. */
function resultsOf(next: PlacedMessage | undefined): readonly Placed[] {
  return next?.role === 'user' ? blocksOfType(next, 'tool_result') : [];
}

/** Calls that a provider still runs: their results don't stand in the same assistant turn. */
function waitsForProvider({ blocks }: PlacedMessage): boolean {
  const answered = new Set(ids(blocks, 'tool_use_id'));
  return blocks.some(
    ({ block }) =>
      (block.type === 'server_tool_use' || block.type === 'mcp_tool_use') &&
      isString(block.id) &&
      !answered.has(block.id),
  );
}

/** Calls that code in a container made, and waits for. */
function waitsForCode(turn: PlacedMessage): boolean {
  return blocksOfType(turn, 'tool_use').some(
    ({ block }) => isObject(block.caller) && block.caller.type !== 'direct' && block.caller.type !== undefined,
  );
}

export const ANSWER_RULES: readonly Rule[] = [
  {
    id: 'call-ids-unique',
    check(body) {
      const seen = new Set<string>();
      return messagesOf(body).flatMap((message) =>
        blocksOfType(message, 'tool_use').flatMap(({ path, block }) => {
          if (!isString(block.id)) return [];
          const repeated = seen.has(block.id);
          seen.add(block.id);
          return repeated ? [`${path}: \`tool_use\` ids must be unique (${block.id})`] : [];
        }),
      );
    },
  },
  {
    id: 'every-call-answered',
    check: (body) =>
      turns(body).flatMap(({ turn, next }) => {
        const answered = new Set(ids(resultsOf(next), 'tool_use_id'));
        const open = ids(blocksOfType(turn, 'tool_use'), 'id').filter((id) => !answered.has(id));
        if (open.length === 0) return [];
        return [
          `${turn.path}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. ` +
            'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
        ];
      }),
  },
  {
    id: 'every-result-asked-for',
    check(body) {
      const messages = messagesOf(body);
      return messages.flatMap((message) => {
        const before = messages[message.index - 1];
        const asked = new Set(before?.role === 'assistant' ? ids(blocksOfType(before, 'tool_use'), 'id') : []);
        return blocksOfType(message, 'tool_result').flatMap(({ path, block }) =>
          isString(block.tool_use_id) && !asked.has(block.tool_use_id)
            ? [
                `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. Each ` +
                  '`tool_result` block must have a corresponding `tool_use` block in the previous message.',
              ]
            : [],
        );
      });
    },
  },
  {
    id: 'answered-once',
    check: (body) =>
      messagesOf(body).flatMap((message) => {
        const all = ids(blocksOfType(message, 'tool_result'), 'tool_use_id');
        return [...new Set(all.filter((id, index) => all.indexOf(id) !== index))].map(
          (id) =>
            `${message.path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
        );
      }),
  },
  {
    id: 'results-first',
    check: (body) =>
      messagesOf(body).flatMap((message) => {
        const firstOther = message.blocks.findIndex(({ block }) => block.type !== 'tool_result');
        if (firstOther === -1) return [];
        return message.blocks
          .slice(firstOther)
          .filter(({ block }) => block.type === 'tool_result')
          .map(({ path }) => `${path}: \`tool_result\` blocks must come before all other content of the message`);
      }),
  },
  {
    id: 'only-results',
    check: (body) =>
      turns(body).flatMap(({ turn, next }) => {
        if (next === undefined || blocksOfType(turn, 'tool_use').length === 0) return [];
        if (!waitsForProvider(turn) && !waitsForCode(turn)) return [];
        return next.blocks
          .filter(({ block }) => block.type !== 'tool_result')
          .map(({ path }) => `${path}: only \`tool_result\` blocks may answer a turn in which other tools still run`);
      }),
  },
];
