import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expand, variablesOf } from './expand.ts';

const variables = variablesOf({ HOME: '/home/a', EMPTY: '', NESTED: `\${HOME}`, OPENAI_API_KEY: 'sk' }, '/project');
const ref = (inside: string) => `\${${inside}}`;

describe('expand', () => {
  const rows: readonly [text: string, expanded: string, codes: readonly string[]][] = [
    [ref('HOME'), '/home/a', []],
    [`a${ref('HOME')}b${ref('HOME')}`, 'a/home/ab/home/a', []],
    [ref('NONE'), ref('NONE'), ['variable_unset']],
    [ref('NONE:-x y'), 'x y', []],
    [ref('NONE:-'), '', []],
    [ref('HOME:-x'), '/home/a', []],
    [ref('EMPTY:-x'), '', []],
    [ref('CLAUDE_PROJECT_DIR'), '/project', []],
    [ref('NESTED'), ref('HOME'), []],
    [`${ref('NONE:-$')}{HOME}`, `$${'{HOME}'}`, []],
    [ref(`NONE:-${ref('HOME')}`), ref(`NONE:-${ref('HOME')}`), ['variable_form']],
    [ref('env:HOME'), ref('env:HOME'), ['variable_form']],
    [ref('input:token'), ref('input:token'), ['variable_form']],
    [ref('workspaceFolder'), ref('workspaceFolder'), ['variable_unset']],
    [ref('constructor'), ref('constructor'), ['variable_unset']],
    [ref('__proto__'), ref('__proto__'), ['variable_unset']],
    [ref(''), ref(''), ['variable_form']],
    ['$HOME %HOME% ~', '$HOME %HOME% ~', []],
    ['${HOME', '${HOME', []],
    [ref('OPENAI_API_KEY'), ref('OPENAI_API_KEY'), ['model_key']],
  ];
  test.each(rows)('%s becomes %s', (text, expanded, codes) => {
    const result = expand(text, variables);
    expect(result.text).toBe(expanded);
    expect(result.notes.map(({ code }) => code)).toEqual(codes);
  });

  test("a model's key is passed on where the entry's env asks for it, with a note", () => {
    const result = expand(ref('OPENAI_API_KEY'), variables, { modelKeys: true });
    expect(result.text).toBe('sk');
    expect(result.notes.map(({ code }) => code)).toEqual(['model_key']);
  });

  test("the project's folder is ours to name, whatever the environment says", () => {
    expect(variablesOf({ CLAUDE_PROJECT_DIR: '/elsewhere' }, '/project').get('CLAUDE_PROJECT_DIR')).toBe('/project');
  });

  test('it never throws and never expands what came from an expansion', () => {
    const piece = fc.constantFrom('$', '{', '}', ':-', 'A', 'B', 'x', '${', ref('A'), ref('B'), '${A:-', '$&', '$1');
    const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, text, text, (subject, a, b) => {
        const result = expand(
          subject,
          new Map([
            ['A', `<${a}>`],
            ['B', `<${b}>`],
          ]),
        );
        // With values that hold no reference the places are the same, so the values can be put in afterwards.
        const marked = expand(
          subject,
          new Map([
            ['A', '<A>'],
            ['B', '<B>'],
          ]),
        );
        expect(result.text).toBe(marked.text.replace(/<A>|<B>/g, (mark) => (mark === '<A>' ? `<${a}>` : `<${b}>`)));
      }),
      { numRuns: 1000 },
    );
  });

  test('a file full of references that never close does not keep anybody waiting', () => {
    const text = `\${A}${'${'.repeat(400_000)}`;
    expect(expand(text, new Map([['A', '1']])).text).toBe(`1${'${'.repeat(400_000)}`);
  });

  test('any text and any environment are taken', () => {
    fc.assert(
      fc.property(fc.string(), fc.dictionary(fc.string(), fc.string()), (text, env) => {
        expect(typeof expand(text, variablesOf(env, '/p')).text).toBe('string');
      }),
    );
  });
});
