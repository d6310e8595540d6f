/**
 * Rule of this file: each rule of the Messages API has the test that shows that Bridle keeps it, in one of four ways.
 */

/**
 * - `histories`: the property test of histories holds each request to it, and a change of one thing in one of those requests
 *   breaks it: there the loop could have broken it
 * - `setups`: the property test of agents as they are set up, over the real client; `sees` matches one of its requests or
 *   one of their tools, in which the rule has something to look at
 * - `never`: Bridle writes nothing of it by itself. Both property tests look for it in every request, and without it the
 *   rule's own breach is taken
 * - `test`: the beginning of the title of a test, and its file
 */
export type Kept =
  | { readonly by: 'histories' }
  | { readonly by: 'setups'; readonly sees: RegExp }
  | { readonly by: 'never'; readonly what: readonly Written[] }
  | { readonly by: 'test'; readonly file: string; readonly title: string };

/** A field of a request, a key anywhere in it, or the `type` of anything in it. */
export type Written = { readonly field: string } | { readonly key: string } | { readonly type: RegExp };

const histories: Kept = { by: 'histories' };
const setups = (sees: RegExp): Kept => ({ by: 'setups', sees });
const field = (...names: readonly string[]): Kept => ({ by: 'never', what: names.map((name) => ({ field: name })) });
const key = (name: string): Kept => ({ by: 'never', what: [{ key: name }] });
const type = (sees: RegExp): Kept => ({ by: 'never', what: [{ type: sees }] });
const test = (file: string, title: string): Kept => ({ by: 'test', file, title });

const CHOICES = test('src/agent/choice.property.test.ts', 'no plan of choices makes a request that its model refuses');
const ENTRIES = 'src/agent/entries-taken.test.ts';
const PROVIDED = test('src/agent/provider-tools.test.ts', 'is refused where the API would refuse it');
const TOOLSET = test('src/agent/toolsets.test.ts', 'a toolset that there is not');
const TOO_LARGE = test('src/agent/request-bounds.test.ts', 'a request with more messages, tools or bytes');
const BOUNDS = test('src/agent/extract.test.ts', 'makes strict what the bounds of a request leave room for');
const STRICT = test('test/strict-schemas.test.ts', 'whatever the schema, its strict form is one that the API takes');
const ANY = setups(/"model":/);

/** By the id of the rule, in the order of the page. */
export const KEPT: ReadonlyMap<string, Kept> = new Map<string, Kept>([
  ['key-given', test('src/models/anthropic.test.ts', 'without a key says what to set')],
  ['key-right', test('src/models/anthropic.test.ts', 'goes to ANTHROPIC_BASE_URL with the key of the environment')],
  ['version-given', ANY],
  ['version-known', ANY],
  ['size', TOO_LARGE],
  ['json', ANY],
  ['model-given', ANY],
  ['model-known', test('src/models/anthropic.test.ts', 'is whole: streamed, with the model')],
  ['max-tokens-given', ANY],
  ['headers-not-in-body', setups(/"betas":\["/)],

  ['known-fields', histories],
  ['max-tokens', histories],
  ['max-tokens-of-model', histories],
  ['message-count', TOO_LARGE],
  ['system', setups(/"system":/)],
  ['stop-sequences', field('stop_sequences')],
  ['sampling-range', field('temperature', 'top_p')],
  ['sampling-pair', field('temperature', 'top_p')],
  ['sampling-of-model', field('temperature', 'top_p', 'top_k')],
  ['effort', key('effort')],
  ['effort-of-model', key('effort')],
  ['one-output-format', field('output_format')],
  [
    'format-without-citations',
    test('src/agent/structured-output.test.ts', 'refuses a document that asks for citations'),
  ],
  ['format-without-prefill', setups(/"output_config":\{"format"/)],
  ['cache-control-shape', field('cache_control')],
  ['context-management-beta', histories],

  ['thinking-type', setups(/"thinking":\{"type":"adaptive"/)],
  ['thinking-budget', type(/^enabled$/)],
  ['thinking-below-max-tokens', type(/^enabled$/)],
  ['thinking-manual-of-model', type(/^enabled$/)],
  ['thinking-adaptive-of-model', setups(/"model":"claude-haiku-4-5/)],
  ['thinking-off-of-model', type(/^disabled$/)],
  ['thinking-between-of-model', type(/^between_tools$/)],
  ['thinking-temperature', field('temperature')],
  ['thinking-binding-beta', setups(/"block_binding"/)],
  ['thinking-starts-turn', test('src/agent/turn-end.test.ts', 'goes back through a loop of calls as the same bytes')],

  ['tool-choice-form', CHOICES],
  ['tool-choice-needs-tools', CHOICES],
  ['tool-choice-names-a-tool', CHOICES],
  ['tool-choice-direct', CHOICES],
  ['tool-choice-no-toolset', TOOLSET],
  ['forced-model', CHOICES],
  ['forced-thinking', test('src/agent/choice-plan.test.ts', 'thinking with a budget is asked in words too')],
  [
    'forced-empty',
    test('src/agent/choice-plan.test.ts', 'a compaction, and a reply of no tokens, are asked in words too'),
  ],
  [
    'forced-compaction',
    test('src/agent/choice-plan.test.ts', 'a compaction, and a reply of no tokens, are asked in words too'),
  ],
  ['parallel-programmatic', CHOICES],

  ['tools-list', histories],
  ['tools-count', TOO_LARGE],
  ['tool-name', histories],
  ['tool-names-unique', histories],
  ['tool-fields', histories],
  ['tool-callers', histories],
  ['input-schema', histories],
  ['property-names', setups(/^\{"name":"tool_odd"/)],
  ['input-examples-fit', setups(/"input_examples":\[/)],
  ['tool-type', histories],
  ['tool-type-name', histories],
  ['provided-schema', PROVIDED],
  ['domains-one-way', PROVIDED],
  ['old-code-execution', PROVIDED],
  [
    'web-callers-of-model',
    test('src/agent/provider-tools.test.ts', 'is called by the model itself where the model has no code'),
  ],
  ['callers-of-model', test(ENTRIES, 'name no caller of code where the model has none')],
  ['callers-need-code', test(ENTRIES, 'name no caller of code where no code execution is declared')],
  ['toolset-fields', histories],
  ['toolset-callers', TOOLSET],
  ['toolset-streaming', setups(/"computer_toolset_20260801"/)],
  ['computer-of-model', type(/^computer_2/)],
  ['advisor-beta', test('src/agent/request-advisor.test.ts', 'an advisor is declared under its beta')],
  ['advisor-kept', test('src/agent/request-advisor.test.ts', 'what an advisor said that is not there any more')],
  ['mcp-servers-used', field('mcp_servers')],
  ['mcp-toolset-known', type(/^mcp_toolset$/)],
  ['mcp-beta', field('mcp_servers')],
  ['pending-tool-kept', histories],
  ['container-kind', histories],

  ['strict-closed', STRICT],
  ['strict-keywords', STRICT],
  ['strict-min-items', STRICT],
  ['strict-format', STRICT],
  ['strict-pattern', STRICT],
  ['strict-enum', STRICT],
  ['strict-recursion', STRICT],
  ['strict-external-ref', setups(/^\{"name":"tool_elsewhere"/)],
  ['strict-all-of-ref', STRICT],
  ['strict-one-of', STRICT],
  ['strict-untaken', STRICT],
  ['strict-count', BOUNDS],
  ['strict-optional', BOUNDS],
  ['strict-unions', BOUNDS],
  ['strict-programmatic', test(ENTRIES, 'are not strict where code may call them')],

  ['not-all-deferred', test(ENTRIES, 'that are deferred are no cache breakpoints, and are not deferred where all')],
  ['search-not-deferred', PROVIDED],
  ['deferred-not-cached', test(ENTRIES, 'that are deferred are no cache breakpoints')],
  ['reference-found', test('src/agent/tool-search.test.ts', 'of an earlier run counts in the next one')],
  ['reference-shape', test('src/agent/tool-search.test.ts', 'is offered where tools are deferred')],

  ['cache-marks', setups(/"cache_control"/)],
  ['cache-mark-shape', histories],
  ['cache-order', setups(/"ttl":"1h"/)],
  ['cache-not-thinking', histories],

  ['messages-list', histories],
  ['roles', histories],
  ['first-is-user', histories],
  ['message-fields', histories],
  ['content-not-empty', histories],
  ['block-places', histories],
  ['block-fields', histories],
  ['block-shapes', histories],
  ['no-trailing-whitespace', histories],
  ['prefill-of-model', histories],

  [
    'system-message-of-model',
    test('src/agent/system-note.test.ts', 'becomes one of the user for a model that takes no system'),
  ],
  ['system-message-after-user', histories],
  ['system-message-before-assistant', histories],
  ['system-messages-apart', histories],
  ['clear-at', key('clear_at')],
  ['tool-change-beta', histories],
  ['tool-change-known', histories],
  ['tool-change-shape', histories],
  ['inline-tool-beta', type(/^tool_definition$/)],
  ['inline-tool-name', type(/^tool_definition$/)],

  ['compaction-type', field('compaction')],
  ['compaction-beta', field('compaction')],
  ['compaction-alone', field('compaction')],
  ['compaction-nothing', field('compaction')],
  ['compaction-complete', field('compaction')],
  ['compaction-once', histories],
  ['compaction-first', histories],
  ['compaction-not-empty', histories],

  ['call-ids-unique', histories],
  ['every-call-answered', histories],
  ['every-result-asked-for', histories],
  ['answered-once', histories],
  ['results-first', histories],
  ['only-results', histories],
  ['server-results-paired', histories],
  ['toolset-echoed', histories],
  ['caller-shape', histories],

  ['thinking-unchanged', setups(/"type":"thinking"/)],
  ['thinking-signature', setups(/"type":"thinking"/)],
  ['thinking-belongs', setups(/"type":"thinking"/)],
  ['compaction-signature', setups(/"type":"compaction"/)],
  ['compaction-content', setups(/"type":"compaction"/)],
  ['compaction-tool-changes', setups(/"type":"compaction"/)],
]);

/** The property tests, as the page names them. */
export const PROPERTY_TESTS = {
  histories: ['test/loop-histories.test.ts', 'whatever happens, each request is one that the API takes'],
  setups: ['test/loop-setups.test.ts', 'however an agent is set up, each of its requests is one that the API takes'],
} as const;

/** Where something that Bridle never writes stands in a request all the same; empty where it doesn't. */
export function writtenIn(body: object, what: Written): readonly string[] {
  if ('field' in what) return what.field in body ? [what.field] : [];
  const found: string[] = [];
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, each] of Object.entries(value)) {
      // What a tool takes and what it was given is its author's and the model's.
      if (name === 'input_schema' || name === 'input' || name === 'schema') continue;
      if ('key' in what ? name === what.key : name === 'type' && typeof each === 'string' && what.type.test(each)) {
        found.push(`${name}: ${JSON.stringify(each)}`);
      }
      look(each);
    }
  };
  look(body);
  return found;
}
