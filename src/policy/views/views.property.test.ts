import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../contracts/index.ts';
import { compileSchema, rawFrom } from '../../tools/index.ts';
import { applyView } from './apply-view.ts';
import { ADA, fetchTool } from './fixtures.ts';
import { keepResult } from './keep-result.ts';
import { parseView } from './parse-view.ts';

const NAMES = ['a', 'b', 'constructor', '__proto__', 'x/y~z'];
const name = fc.constantFrom(...NAMES);
const scalar = fc.oneof(
  fc.integer({ min: -5, max: 15 }),
  fc.constantFrom('a', 'b', 'c', 'https://h.test/', 'https://i.test/'),
  fc.boolean(),
);

const property = fc.oneof(
  fc.record({ type: fc.constant('integer') }),
  fc.record({ type: fc.constant('integer'), maximum: fc.integer({ min: 0, max: 10 }) }),
  fc.record({ type: fc.constant('string') }),
  fc.record({ enum: fc.constant(['a', 'b']) }),
  fc.record({ type: fc.constant('array'), items: fc.constant({}) }),
  fc.constant({}),
  fc.constant(true),
);
/** Built with `fromEntries`, so that a name such as `__proto__` is one. */
const objectOf = <T>(value: fc.Arbitrary<T>) =>
  fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key }).map((pairs) => Object.fromEntries(pairs));

const schema = fc.record({
  type: fc.constant('object'),
  properties: objectOf(property),
  required: fc.uniqueArray(name, { maxLength: 2 }),
  additionalProperties: fc.boolean(),
});

const limit = fc.oneof(
  fc.record({ fixed: scalar }),
  fc.constant({ from: '/user' }),
  fc.constant({ remove: true }),
  fc.record({ enum: fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }) }),
  fc.record({ values: fc.uniqueArray(scalar, { maxLength: 3 }), optional: fc.boolean() }),
  fc.record({ maximum: fc.integer({ min: 0, max: 10 }), minimum: fc.integer({ min: -3, max: 3 }) }),
  fc.record({ choices: fc.constant({ one: 'a', two: 7 }) }),
  fc.record({ hosts: fc.constant(['h.test']) }),
  fc.record({ enum: fc.constant(['a']), as: fc.constantFrom('renamed', 'b') }),
);
const args = objectOf(fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })));
const more = fc.record({ renamed: fc.constantFrom('a', 'z'), odd: scalar }, { requiredKeys: [] });

/** Whether a value that the tool would get lies inside of what the view says of it, told anew from the words of the view. */
function isInside(given: JsonObject, value: Json | undefined): boolean {
  if ('fixed' in given) return value === given.fixed;
  if ('from' in given) return value === 'ada';
  if ('remove' in given) return value === undefined;
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return given.optional === true;
  return (Array.isArray(value) && !('choices' in given) ? value : [value]).every((one) => {
    const listed = (given.enum ?? given.values) as readonly Json[] | undefined;
    if (listed && !listed.includes(one)) return false;
    if (typeof given.maximum === 'number' && !(typeof one === 'number' && one <= given.maximum)) return false;
    if (typeof given.minimum === 'number' && !(typeof one === 'number' && one >= given.minimum)) return false;
    if ('choices' in given && one !== 'a' && one !== 7) return false;
    return !('hosts' in given) || (typeof one === 'string' && one.startsWith('https://h.test/'));
  });
}

test('whatever passes a view lies inside of its limits and of the schema of the tool behind it', async () => {
  let passed = 0;
  await fc.assert(
    fc.asyncProperty(schema, objectOf(limit), args, more, async (upstream, limits, given, others) => {
      const one = parseView('view', { server: 'web', tool: 'fetch', arguments: limits as JsonObject });
      const made = applyView(fetchTool(upstream as unknown as Json), one);
      if ('problem' in made) return;
      const mapped = await made.tool.narrows?.arguments({ ...given, ...others } as JsonObject, ADA);
      if (!mapped || 'issues' in mapped) return;
      passed += 1;
      const behind = mapped.args;
      for (const [key, said] of Object.entries(limits)) {
        const value = Object.hasOwn(behind, key) ? behind[key] : undefined;
        if (!isInside(said as JsonObject, value)) throw new Error(`${key}: ${JSON.stringify(value)}`);
      }
      const check = await compileSchema(upstream as unknown as Json, { origin: 'outside' });
      expect(check.check(behind)).toEqual([]);
    }),
    { numRuns: 600 },
  );
  expect(passed).toBeGreaterThan(0);
});

test('what a view keeps of a result was in it, and nothing else is told', () => {
  const data = fc.object({
    key: fc.constantFrom('a', 'b', 'c'),
    maxDepth: 3,
    values: [fc.constantFrom('kept', 7, null)],
  });
  const pointers = fc.array(fc.constantFrom('/a', '/a/b', '/b/*', '/c/*/a', '/a/0'), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(data, pointers, (value, keep) => {
      const raw = rawFrom({ content: [{ type: 'text', text: 'SECRET' }], structuredContent: value as Json, _meta: {} });
      const result = keepResult({ keep }, raw, false);
      if ('refused' in result) return;
      expect(result.raw.text).not.toContain('SECRET');
      const { structuredContent } = result.raw.parse() as JsonObject;
      const first = new Set(keep.map((pointer) => pointer.split('/')[1]));
      expect(Object.keys(structuredContent as JsonObject).every((key) => first.has(key))).toBe(true);
    }),
  );
});

test('whatever a view is written like, it is read without a crash, and is a problem or a view', () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), fc.jsonValue(), (text, limits, rest) => {
      const body = typeof rest === 'object' && rest !== null && !Array.isArray(rest) ? rest : {};
      const one = parseView(text, { ...body, tool: 'fetch', arguments: limits } as JsonObject);
      const made = applyView(fetchTool(), one);
      expect('tool' in made || made.problem.code.startsWith('view_')).toBe(true);
    }),
  );
});
