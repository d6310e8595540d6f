/**
 * Rule of this file: it makes agents as people set them up, and what their model answers. Nothing here is refused by Bridle
 * itself when the agent is made.
 */
import fc from 'fast-check';
import type { AgentOptions, ProviderTool } from '../../src/agent/index.ts';
import type { AnthropicOptions } from '../../src/models/anthropic.ts';
import type { PlainTurn } from '../../src/testing/index.ts';
import { defineTool, toolsetSource, type ToolOptions } from '../../src/tools/index.ts';

type Schema = { readonly [keyword: string]: unknown };

/** Schemas that the API wouldn't take as they are, and their like. */
const SCHEMAS: Readonly<Record<string, Schema>> = {
  plain: { type: 'object', properties: { id: { type: 'string' }, n: { type: 'integer', minimum: 1 } } },
  either: { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }], properties: { a: {}, b: {} } },
  odd: { type: 'object', properties: { $top: { type: 'string' }, 'a b': { type: 'number' } } },
  bounded: {
    type: 'object',
    properties: {
      n: { type: 'integer', minimum: 1, maximum: 9 },
      many: { type: 'array', items: { type: 'string', maxLength: 3 }, minItems: 2, uniqueItems: true },
      phone: { type: 'string', format: 'phone' },
      word: { type: 'string', pattern: '^(?!x)' },
      either: { enum: [{ a: 1 }, [1], 'b'] },
      point: { type: ['object', 'null'], properties: { x: { type: ['number', 'null'] } } },
    },
    required: ['n'],
  },
  tree: {
    type: 'object',
    properties: { node: { $ref: '#/$defs/node' } },
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
  },
  elsewhere: {
    type: 'object',
    properties: { part: { $ref: 'part' } },
    $defs: { part: { $id: 'part', type: 'object', properties: { x: { type: 'number' } } } },
  },
  open: { type: 'object', additionalProperties: { type: 'string' } },
};

const CODE = { type: 'code_execution_20260120', name: 'code_execution' };
const PROVIDED = [
  CODE,
  { type: 'web_search_20250305', name: 'web_search' },
  { type: 'web_search_20260318', name: 'web_search' },
  { type: 'web_fetch_20260318', name: 'web_fetch', allowed_domains: ['a.example'] },
  { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
] satisfies ProviderTool[];

const MODELS = [
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-sonnet-4-6',
  'claude-haiku-4-5-20251001',
  'claude-fable-5-1',
] as const;

const HINTS: readonly Partial<ToolOptions<Schema>>[] = [
  {},
  { strict: true },
  { strict: true },
  { deferLoading: true },
  { cacheControl: { type: 'ephemeral' } },
  { cacheControl: { type: 'ephemeral', ttl: '1h' }, deferLoading: true },
  { allowedCallers: ['direct', 'code_execution_20260120'] },
  { allowedCallers: ['code_execution_20260120'], strict: true },
  { examples: [{}], eagerInputStreaming: true },
];

const tool = fc
  .record({ schema: fc.constantFrom(...Object.keys(SCHEMAS)), hints: fc.constantFrom(...HINTS) })
  .map(({ schema, hints }) => {
    const { n: _, ...bounded } = SCHEMAS[schema] as Schema & { n?: unknown };
    // An example has to fit: no member may be required.
    const input = 'examples' in hints ? (SCHEMAS.plain as Schema) : bounded;
    return defineTool({ name: `tool_${schema}`, description: `Is ${schema}.`, input, ...hints }, () => 'Done.');
  });

const single = fc.constantFrom({}, { disable_parallel_tool_use: true });
const choice = fc.oneof(
  fc.constantFrom('auto' as const, 'none' as const),
  single.map((more) => ({ first: { type: 'any' as const, ...more } })),
  single.map((more) => ({ first: [{ type: 'tool' as const, name: 'tool_plain', ...more }, 'auto' as const] })),
);

const OUTPUT: AgentOptions['output'] = {
  schema: {
    type: 'object',
    properties: { total: { type: 'number', minimum: 0 }, lines: { type: 'array', items: { type: 'string' } } },
    required: ['total'],
  },
};

const options = fc.record<Partial<AgentOptions>>(
  {
    system: fc.constantFrom('Be brief.', '  ', ''),
    untrustedContentNotice: fc.constantFrom(false as const, 'Careful.'),
    parallelWish: fc.constantFrom('encourage' as const, 'off' as const),
    toolChoice: choice,
    output: fc.constant(OUTPUT),
    context: fc.constantFrom<AgentOptions['context']>(
      { keepRuns: 1 },
      { clearResults: true, clearThinking: { keep: 1 } },
      { compact: true },
    ),
    maxTokens: fc.constantFrom(1, 3_000, 50_000),
    toolSearch: fc.constantFrom<AgentOptions['toolSearch']>(
      'off',
      { above: 0, keep: 1 },
      { above: 0, keep: 0 },
      { above: 0, keep: 0, references: false },
    ),
    askUser: fc.constant(true),
    limits: fc.constantFrom({ turns: 2 }, { turns: 5 }),
  },
  { requiredKeys: [] },
);

const clientOptions: fc.Arbitrary<AnthropicOptions> = fc.record(
  { cache: fc.constantFrom('5m' as const, '1h' as const, false as const), maxTokens: fc.constantFrom(1_000, 60_000) },
  { requiredKeys: [] },
);

const replies: fc.Arbitrary<PlainTurn> = fc.constantFrom<PlainTurn>(
  { thinking: 'Hm.', text: 'I look.', calls: [{ name: 'tool_plain', input: { id: 'a' } }, { name: 'tool_bounded' }] },
  { calls: [{ name: 'tool_plain', input: { n: 'no number' } }] },
  { text: 'I search. ', serverCalls: [{ name: 'web_search', input: { query: 'x' } }], stopReason: 'pause_turn' },
  {
    serverCalls: [{ name: 'web_search', input: { query: 'x' }, result: [] }],
    content: [{ type: 'text', text: 'So far: ' }],
    stopReason: 'pause_turn',
  },
  { found: ['tool_plain'], calls: [{ name: 'tool_plain', input: { id: 'b' } }] },
  { calls: [{ name: 'find_tools', input: { query: 'tool plain bounded' } }] },
  { calls: [{ name: 'left_click', toolset_name: 'computer', input: { coordinate: [1, 2] } }] },
  { text: 'Cut', stopReason: 'max_tokens' },
  { content: [{ type: 'compaction', content: 'They want it done.' }], text: 'I go on.' },
  { text: '{"total": -1}' },
);

/** A computer in this process: one entry stands for what it can do. */
const computer = toolsetSource({
  entry: { type: 'computer_toolset_20260801' },
  members: { left_click: { run: () => 'Clicked.' }, screenshot: { effect: 'read', run: () => 'A picture.' } },
});

const ALLOWED = [
  ...Object.keys(SCHEMAS).map((name) => `tool_${name}`),
  'computer__*',
  ...PROVIDED.map(({ name }) => name),
];

/** An agent, and what its model answers. */
export interface Setup {
  readonly model: string;
  readonly options: Partial<AgentOptions>;
  readonly client: AnthropicOptions;
  readonly replies: readonly PlainTurn[];
}

export const setup: fc.Arbitrary<Setup> = fc
  .record({
    model: fc.constantFrom(...MODELS),
    tools: fc.uniqueArray(tool, { maxLength: 5, selector: (each) => each.definition.ref.name }),
    provided: fc.uniqueArray(fc.constantFrom<ProviderTool>(...PROVIDED), {
      maxLength: 3,
      selector: ({ name }) => name,
    }),
    hasComputer: fc.boolean(),
    options,
    client: clientOptions,
    replies: fc.array(replies, { maxLength: 5 }),
  })
  .map(({ model, tools, provided, hasComputer, options: chosen, client, replies: said }) => {
    const { toolChoice, ...rest } = chosen;
    const isThere = tools.some(({ definition }) => definition.ref.name === 'tool_plain');
    // One that only code may call is left out where there is no code.
    const isFindable = tools.some(({ definition: { ref, hints } }) => {
      return ref.name === 'tool_plain' && hints?.allowedCallers?.includes('direct') !== false;
    });
    const named = JSON.stringify(toolChoice ?? null).includes('tool_plain');
    return {
      model,
      client,
      // Nobody calls what isn't declared.
      replies: said.filter((each) => {
        const text = JSON.stringify(each);
        const isHere = (name: string) => provided.some((one) => one.name === name);
        if (text.includes('"compaction"')) return chosen.context?.compact === true;
        if (text.includes('web_search')) return isHere('web_search');
        return !text.includes('"found"') || (isHere('tool_search_tool_regex') && isFindable);
      }),
      options: {
        ...rest,
        tools,
        providerTools: provided,
        permissions: { allow: ALLOWED },
        ...(hasComputer && model !== 'claude-haiku-4-5-20251001' && { sources: [computer] }),
        ...(toolChoice !== undefined && (isThere || !named) && { toolChoice }),
      },
    };
  });
