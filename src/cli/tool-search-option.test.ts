import { expect, test } from 'vitest';
import { rowFor } from './command.ts';
import { COMMANDS } from './commands.ts';
import { parseCommand } from './parse.ts';
import { toolSearchFor, toolSearchOption } from './tool-search-option.ts';

const parsed = (...args: string[]) => {
  const spec = COMMANDS.find(({ name }) => name === 'run');
  if (spec === undefined) throw new Error('no run');
  return parseCommand(rowFor(spec, args), args);
};
const model = (id: string) => ({ id, respond: async () => Promise.reject(new Error('not asked')) });

test('--tool-search takes three ways; without it a model that costs something searches where there are many tools', () => {
  expect(toolSearchOption(parsed('Go.', '--tool-search', 'client'))).toBe('client');
  expect(toolSearchOption(parsed('Go.'))).toBeUndefined();
  expect(() => toolSearchOption(parsed('Go.', '--tool-search', 'always'))).toThrow(
    '--tool-search takes auto, client, off',
  );
  expect(toolSearchFor(model('claude-opus-5-5'), undefined)).toBe('auto');
  expect(toolSearchFor(model('offline'), undefined)).toBe('client');
  expect(toolSearchFor(model('offline'), 'auto')).toBe('auto');
});
