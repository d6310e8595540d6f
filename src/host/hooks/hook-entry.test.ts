import { expect, test } from 'vitest';
import { parseConfig } from '../config-file.ts';
import { treeReader, valueAt } from '../config-tree.ts';
import { readHookEntries } from './hook-entry.ts';

function read(hooks: unknown) {
  const reader = treeReader(parseConfig('bridle.json', JSON.stringify({ hooks }, null, 2)));
  const entries = readHookEntries(reader, valueAt(reader.file.root, 'hooks'));
  return { ...entries, codes: reader.warnings.map(({ code }) => code) };
}

const command = (text: string, more = {}) => ({ type: 'command', command: text, ...more });

test('hooks are read in the form of other settings, each with its place', () => {
  const { hooks, from, codes } = read({
    from: ['claude'],
    PreToolUse: [
      { matcher: 'mcp__shop__.*', hooks: [command('./check.sh', { timeout: 5 }), command('log')] },
      { hooks: [command('all')] },
    ],
    SessionEnd: [{ matcher: 'clear', hooks: [command('bye')] }],
  });
  expect(codes).toEqual([]);
  expect(from).toEqual(['claude']);
  expect(hooks.map(({ event, matcher, command, timeoutMs }) => [event, matcher, command, timeoutMs])).toEqual([
    ['PreToolUse', 'mcp__shop__.*', './check.sh', 5_000],
    ['PreToolUse', 'mcp__shop__.*', 'log', 60_000],
    ['PreToolUse', '', 'all', 60_000],
    ['SessionEnd', 'clear', 'bye', 60_000],
  ]);
  expect(hooks[0]?.source).toMatchObject({ file: 'bridle.json', line: 10 });
});

test.each<[string, unknown, string[], number]>([
  ['no object', [], ['hooks_unreadable'], 0],
  ['an event of others', { Stop: [{ hooks: [command('a')] }] }, ['hook_event_unknown'], 0],
  ['a slip', { PreToolUsed: [{ hooks: [command('a')] }] }, ['hook_event_unknown'], 0],
  ['an event that is no list', { PreToolUse: {} }, ['hooks_unreadable'], 0],
  ['a group that is no object', { PreToolUse: ['./a.sh'] }, ['hooks_unreadable'], 0],
  ['a group without hooks', { PreToolUse: [{ matcher: 'a' }] }, ['hooks_unreadable'], 0],
  [
    'another type',
    { PreToolUse: [{ hooks: [{ type: 'prompt', prompt: 'x' }] }] },
    ['unknown_key', 'hook_type_unknown'],
    0,
  ],
  ['no command', { PreToolUse: [{ hooks: [{ type: 'command', command: ' ' }] }] }, ['hooks_unreadable'], 0],
  ['a time that is none', { PreToolUse: [{ hooks: [command('a', { timeout: -1 })] }] }, ['hook_timeout_invalid'], 1],
  ['another program', { from: ['cursor'] }, ['hooks_from_unknown'], 0],
])('%s is reported', (_, hooks, codes, count) => {
  const found = read(hooks);
  expect(found.codes).toEqual(codes);
  expect(found.hooks).toHaveLength(count);
});

test('a matcher that is no text guards everything', () => {
  const { hooks, codes } = read({ PreToolUse: [{ matcher: 7, hooks: [command('a')] }] });
  expect(codes).toEqual(['hook_matcher_unreadable']);
  expect(hooks).toMatchObject([{ matcher: '' }]);
});

test('one that can not be read costs no other', () => {
  const { hooks } = read({ PreToolUse: [{ hooks: [{ type: 'http' }, command('a')] }, 'x'], SessionEnd: 'no' });
  expect(hooks).toMatchObject([{ command: 'a' }]);
});
