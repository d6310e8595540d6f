import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ToolDefinition } from '../../contracts/index.ts';
import { ListTexts } from './list-text.ts';

function definition(name: string): ToolDefinition {
  const inputSchema = { type: 'object' };
  const value = { name, inputSchema };
  return {
    ref: { server: null, tool: name, name, fingerprint: name },
    description: '',
    inputSchema,
    raw: { text: JSON.stringify(value), parse: () => value },
    effect: 'read',
  };
}

const namesIn = ({ text }: { readonly text: string }) =>
  (JSON.parse(text) as { tools: { name: string }[] }).tools.map(({ name }) => name);

describe('the text of a list of tools', () => {
  test('is that of the list, however often, in whatever order and for how many callers lists are asked for', () => {
    const pool = Array.from({ length: 6 }, (_, at) => definition(`tool_${at}`));
    const list = fc.uniqueArray(fc.nat({ max: pool.length - 1 }));
    const era = fc.constantFrom('legacy' as const, 'modern' as const);
    fc.assert(
      fc.property(fc.array(fc.tuple(list, era), { maxLength: 60 }), (asked) => {
        const texts = new ListTexts('{}');
        for (const [places, one] of asked) {
          const tools = places.flatMap((at) => pool[at] ?? []);
          expect(namesIn(texts.tools({ items: tools }, one))).toEqual(tools.map(({ ref }) => ref.name));
        }
      }),
    );
  });

  test('follows a host that changes the list it gave', () => {
    const texts = new ListTexts('{}');
    const tools = [definition('a')];
    expect(namesIn(texts.tools({ items: tools }, 'modern'))).toEqual(['a']);
    tools.push(definition('b'));
    expect(namesIn(texts.tools({ items: tools }, 'modern'))).toEqual(['a', 'b']);
  });
});
