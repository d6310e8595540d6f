import type { JsonObject } from '../../contracts/index.ts';
import { assumed, docs, type Rule, report } from './rule.ts';
import { askOpus, assistant, call, HI, result, saidWith, text, tool, user, WEB_SEARCH } from './samples.ts';
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

const SEARCHING: JsonObject = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } };
const SEARCHED: JsonObject = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };

function hasClientCalls(turn: PlacedMessage): boolean {
  return blocksOfType(turn, 'tool_use').length > 0;
}

/** A turn in which the provider still searches while the client looks. */
function mixed(answer: JsonObject[]): JsonObject {
  return askOpus({
    tools: [tool(), WEB_SEARCH],
    messages: [HI, assistant([SEARCHING, call('toolu_1')]), user(answer)],
  });
}

function clicked(more: JsonObject): JsonObject {
  const member = { name: 'left_click', input: { coordinate: [1, 1] }, toolset_name: 'computer' };
  return askOpus({
    tools: [{ type: 'computer_toolset_20260801' }],
    messages: [HI, assistant([call('toolu_1', member)]), user([result('toolu_1', more)])],
  });
}

export const ANSWER_RULES: readonly Rule[] = [
  {
    id: 'call-ids-unique',
    refuses: 'in which two calls have one id',
    source: report('the API words it "`tool_use` ids must be unique"'),
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
    breach: saidWith(
      [tool()],
      HI,
      assistant([call('toolu_1')]),
      user([result('toolu_1')]),
      assistant([call('toolu_1')]),
      user([result('toolu_1')]),
    ),
    keeps: saidWith([tool()], HI, assistant([call('toolu_1')]), user([result('toolu_1')])),
  },
  // Messages of the user in a row are one turn to the API, but what was published of answers says that results have to stand
  // in the very next message all the same: the rule takes the strict side, since what it takes is taken by both.
  {
    id: 'every-call-answered',
    refuses: 'in which the message after a call does not answer it',
    source: report('the API words it "`tool_use` ids were found without `tool_result` blocks immediately after"'),
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
    breach: saidWith([tool()], HI, assistant([call('toolu_1')]), user('And?')),
    keeps: saidWith([tool()], HI, assistant([call('toolu_1')]), user([result('toolu_1')])),
  },
  {
    id: 'every-result-asked-for',
    refuses: 'with a result that the message before did not ask for',
    source: report('the API words it "unexpected `tool_use_id` found in `tool_result` blocks"'),
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
    breach: saidWith([tool()], user([result('toolu_1')])),
    keeps: saidWith([tool()], HI, assistant([call('toolu_1')]), user([result('toolu_1')])),
  },
  {
    id: 'answered-once',
    refuses: 'in which one call has two results',
    source: report('the API words it "each tool_use must have a single result"'),
    check: (body) =>
      messagesOf(body).flatMap((message) => {
        const all = ids(blocksOfType(message, 'tool_result'), 'tool_use_id');
        return [...new Set(all.filter((id, index) => all.indexOf(id) !== index))].map(
          (id) =>
            `${message.path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
        );
      }),
    breach: saidWith([tool()], HI, assistant([call('toolu_1')]), user([result('toolu_1'), result('toolu_1')])),
    keeps: saidWith([tool()], HI, assistant([call('toolu_1')]), user([result('toolu_1')])),
  },
  {
    id: 'results-first',
    refuses: 'in which something stands before a result',
    source: docs('Handle tool calls: results come first'),
    check: (body) =>
      messagesOf(body).flatMap((message) => {
        const firstOther = message.blocks.findIndex(({ block }) => block.type !== 'tool_result');
        if (firstOther === -1) return [];
        return message.blocks
          .slice(firstOther)
          .filter(({ block }) => block.type === 'tool_result')
          .map(({ path }) => `${path}: \`tool_result\` blocks must come before all other content of the message`);
      }),
    breach: saidWith([tool()], HI, assistant([call('toolu_1')]), user([text('Here:'), result('toolu_1')])),
    keeps: saidWith([tool()], HI, assistant([call('toolu_1')]), user([result('toolu_1'), text('Well?')])),
  },
  {
    id: 'only-results',
    refuses: 'in which anything but results answers a turn while code or the provider waits for them',
    source: docs('Parallel tool use: a server tool and a client tool in one group'),
    check: (body) =>
      turns(body).flatMap(({ turn, next }) => {
        if (next === undefined || blocksOfType(turn, 'tool_use').length === 0) return [];
        if (!waitsForProvider(turn) && !waitsForCode(turn)) return [];
        // User messages in a row are one.
        const messages = messagesOf(body).slice(next.index);
        const end = messages.findIndex(({ role }) => role !== 'user');
        return (end === -1 ? messages : messages.slice(0, end))
          .flatMap(({ blocks }) => blocks)
          .filter(({ block }) => block.type !== 'tool_result')
          .map(({ path }) => `${path}: only \`tool_result\` blocks may answer a turn in which other tools still run`);
      }),
    breach: mixed([result('toolu_1'), text('And?')]),
    keeps: mixed([result('toolu_1')]),
  },
  {
    id: 'server-results-paired',
    refuses: 'in which a finished turn has a call of the provider’s without its result',
    source: docs('Server tools: mixed turns'),
    check(body) {
      const messages = messagesOf(body);
      return turns(body).flatMap(({ turn, next }) => {
        // The last turn may still wait, and one with calls of the client's is answered first.
        const open = next === undefined || messages.length - 1 === turn.index || hasClientCalls(turn);
        if (open || (next?.role === 'assistant' && waitsForProvider(turn))) return [];
        const answered = new Set(ids(turn.blocks, 'tool_use_id'));
        return turn.blocks
          .filter(({ block }) => block.type === 'server_tool_use' && isString(block.id) && !answered.has(block.id))
          .map(
            ({ path, block }) =>
              `${path}: \`${String(block.name)}\` tool use with id \`${String(block.id)}\` was found without a corresponding ` +
              `\`${String(block.name)}_tool_result\` block`,
          );
      });
    },
    breach: askOpus({ tools: [WEB_SEARCH], messages: [HI, assistant([SEARCHING]), user('And?')] }),
    keeps: askOpus({ tools: [WEB_SEARCH], messages: [HI, assistant([SEARCHING, SEARCHED]), user('And?')] }),
  },
  {
    id: 'toolset-echoed',
    refuses: 'in which the result for a member of a toolset does not name that toolset',
    source: assumed('the pages ask for it; that anything else is refused is likely'),
    check: (body) =>
      turns(body).flatMap(({ turn, next }) => {
        const family = new Map(
          blocksOfType(turn, 'tool_use').map(({ block }) => [block.id, block.toolset_name ?? null] as const),
        );
        return resultsOf(next)
          .filter(({ block }) => family.has(block.tool_use_id))
          .filter(({ block }) => (block.toolset_name ?? null) !== family.get(block.tool_use_id))
          .map(
            ({ path, block }) =>
              `${path}.tool_result.toolset_name: Input should be ${JSON.stringify(family.get(block.tool_use_id))}, as in its tool_use`,
          );
      }),
    breach: clicked({}),
    keeps: clicked({ toolset_name: 'computer' }),
  },
  {
    id: 'caller-shape',
    refuses: 'with a call whose caller is neither direct nor a call of code execution',
    source: assumed('the SDK types callers as direct or a version of code execution with its tool_id'),
    check: (body) =>
      messagesOf(body).flatMap((message) =>
        blocksOfType(message, 'tool_use').flatMap(({ path, block: { caller } }) => {
          if (caller === undefined || caller === null) return [];
          const fine =
            isObject(caller) &&
            (caller.type === 'direct' ||
              (isString(caller.type) && caller.type.startsWith('code_execution_') && isString(caller.tool_id)));
          return fine
            ? []
            : [`${path}.tool_use.caller: Input should have type 'direct' or name the code execution call`];
        }),
      ),
    breach: saidWith([tool()], HI, assistant([call('toolu_1', { caller: { type: 'me' } })]), user([result('toolu_1')])),
    keeps: saidWith(
      [tool()],
      HI,
      assistant([call('toolu_1', { caller: { type: 'direct' } })]),
      user([result('toolu_1')]),
    ),
  },
];
