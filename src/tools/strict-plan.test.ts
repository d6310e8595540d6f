import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, ToolDefinition } from '../contracts/index.ts';
import { defineTool, type ToolOptions } from './define-tool.ts';
import { planStrict, type StrictMode, strictNotices } from './strict-plan.ts';

type More = Partial<Pick<ToolOptions<{ type: 'object' }>, 'strict' | 'effect' | 'allowedCallers'>>;

/** A tool with so many optional properties, and so many of several types that are required. */
function tool(name: string, optional = 0, unions = 0, more: More = {}, property: JsonObject = { type: 'string' }) {
  const all = (count: number, kind: string, schema: JsonObject) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`${kind}${n}`, schema]));
  const several = all(unions, 'u', { type: ['string', 'null'] });
  const input = {
    type: 'object' as const,
    properties: { ...all(optional, 'o', property), ...several },
    required: Object.keys(several),
  };
  return defineTool({ name, description: 'Does it.', input, ...more }, () => '').definition;
}

const chosen = (tools: readonly ToolDefinition[], mode: StrictMode, options?: Parameters<typeof planStrict>[2]) =>
  Object.fromEntries(
    planStrict(tools, mode, options).choices.map(({ name, strictness, reason }) => [name, reason?.code ?? strictness]),
  );

describe('planStrict', () => {
  test('takes those that ask for it, all that fit, or none', () => {
    const tools = [tool('a', 0, 0, { strict: true }), tool('b'), tool('c', 0, 0, { strict: false })];
    expect(chosen(tools, 'asked')).toEqual({ a: 'strict', b: 'loose', c: 'loose' });
    expect(chosen(tools, 'auto')).toEqual({ a: 'strict', b: 'strict', c: 'strict_unwanted' });
    expect(chosen(tools, 'off')).toEqual({ a: 'strict_off', b: 'loose', c: 'loose' });
  });

  test('takes no more than 20, those asked for before those that change things, and these before those that read', () => {
    const tools = [
      ...Array.from({ length: 15 }, (_, n) => tool(`read${n}`, 0, 0, { effect: 'read' })),
      ...Array.from({ length: 10 }, (_, n) => tool(`write${n}`)),
      tool('marked', 0, 0, { effect: 'read', strict: true }),
    ];
    const plan = planStrict(tools, 'auto');
    const strict = plan.choices.filter(({ strictness }) => strictness === 'strict').map(({ name }) => name);
    expect(strict).toEqual([
      ...Array.from({ length: 9 }, (_, n) => `read${n}`),
      ...Array.from({ length: 10 }, (_, n) => `write${n}`),
      'marked',
    ]);
    expect(plan.choices.map(({ name }) => name)).toEqual(tools.map(({ ref }) => ref.name));
    expect(plan.choices.find(({ name }) => name === 'read9')?.reason).toMatchObject({ code: 'strict_over_tools' });
    expect(plan.remedies).toHaveLength(4);
  });

  test('leaves out what has too many optional properties, or of several types, for what is left', () => {
    const tools = [tool('a', 20, 0), tool('b', 5, 0), tool('c', 0, 10), tool('d', 0, 7), tool('e', 4, 6)];
    expect(chosen(tools, 'auto')).toEqual({
      a: 'strict_over_optional',
      b: 'strict',
      c: 'strict_over_unions',
      d: 'strict',
      e: 'strict',
    });
    expect(chosen([tool('a', 20)], 'auto', { beside: { optional: 5, unions: 0 } })).toEqual({
      a: 'strict_over_optional',
    });
  });

  test('requires what has a default where that makes room', () => {
    const property = { type: 'integer', default: 5 };
    const tools = [tool('a', 20, 0, { strict: true }), tool('b', 20, 0, { strict: true }, property)];
    const plan = planStrict(tools, 'asked');
    expect(plan.choices.map(({ strictness }) => strictness)).toEqual(['strict', 'defaults_required']);
    expect(plan.choices[1]?.steps).toContainEqual({
      pointer: '/properties/o0',
      keyword: 'required',
      how: 'lowered',
      text: expect.stringContaining('has a default'),
    });
    expect(plan.used).toEqual({ tools: 2, optional: 20, unions: 0 });
    expect(plan.remedies).toEqual([]);
  });

  test('leaves out what can not be strict, with the reason, however it is asked for', () => {
    const open = defineTool(
      {
        name: 'open',
        description: 'O.',
        input: { type: 'object', properties: { by: { type: 'object' } } },
        strict: true,
      },
      () => '',
    ).definition;
    const code = tool('code', 0, 0, { strict: true, allowedCallers: ['direct', 'code_execution_20260120'] });
    const member: ToolDefinition = {
      ...tool('computer__key'),
      hints: { strict: true, toolset: { name: 'computer', member: 'key', entry: {}, members: ['key'] } },
    };
    const plan = planStrict([open, code, member], 'asked');
    expect(plan.choices.map(({ reason }) => reason?.code)).toEqual([
      'strict_open',
      'strict_programmatic',
      'strict_toolset',
    ]);
    expect(strictNotices(plan)).toEqual([
      {
        room: 'tools',
        code: 'strict_impossible',
        text: expect.stringContaining('"open": It can\'t be strict: it has an'),
      },
    ]);
  });

  test('tells at most ten of those that did not fit by name, and the remedies in order', () => {
    const tools = Array.from({ length: 33 }, (_, n) => tool(`t${n}`, 0, 0, { strict: true }));
    const [notice, ...more] = strictNotices(planStrict(tools, 'asked'));
    expect(more).toEqual([]);
    expect(notice?.text).toMatch(
      /"t20": It isn't strict.*"t29": .*And 3 more\. What helps, in this order: 1\. .* 4\. /,
    );
    expect(notice?.text).not.toContain('"t30"');
  });

  const kinds = fc.record({
    optional: fc.nat(12),
    unions: fc.nat(6),
    strict: fc.option(fc.boolean(), { nil: undefined }),
    effect: fc.constantFrom('read' as const, 'write' as const),
    hasDefault: fc.boolean(),
  });
  const list = fc.array(kinds, { maxLength: 30 });
  const build = (
    all: readonly {
      optional: number;
      unions: number;
      strict: boolean | undefined;
      effect: 'read' | 'write';
      hasDefault: boolean;
    }[],
    at = 0,
  ) =>
    all.map(({ optional, unions, strict, effect, hasDefault }, n) =>
      tool(
        `t${at + n}`,
        optional,
        unions,
        { effect, ...(strict !== undefined && { strict }) },
        { type: 'string', ...(hasDefault && { default: 'x' }) },
      ),
    );

  test('keeps the limits, gives the same every time, and what comes later changes nothing', () => {
    fc.assert(
      fc.property(list, list, fc.constantFrom<StrictMode>('asked', 'auto'), (first, later, mode) => {
        const tools = build(first);
        const plan = planStrict(tools, mode);
        expect(plan).toEqual(planStrict(tools, mode));
        const before = new Map(plan.choices.map((choice) => [choice.name, choice]));
        const more = planStrict([...tools, ...build(later, tools.length)], mode, { before });
        expect(more.choices.slice(0, tools.length)).toEqual(plan.choices);
        for (const { used } of [plan, more]) {
          expect(used.tools).toBeLessThanOrEqual(20);
          expect(used.optional).toBeLessThanOrEqual(24);
          expect(used.unions).toBeLessThanOrEqual(16);
        }
      }),
      { numRuns: 60 },
    );
  });
});
