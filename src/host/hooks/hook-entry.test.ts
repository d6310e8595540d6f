import { describe, expect, test } from 'vitest';
import { parseConfig } from '../config-file.ts';
import { treeReader, valuesNamed } from '../config-tree.ts';
import { readHookEntries } from './hook-entry.ts';

function readText(text: string) {
  const reader = treeReader(parseConfig('bridle.json', text));
  const entries = readHookEntries(reader, valuesNamed(reader.file.root, 'hooks'));
  return { ...entries, warnings: reader.warnings, codes: reader.warnings.map(({ code }) => code) };
}

const read = (hooks: unknown) => readText(JSON.stringify({ hooks }, null, 2));
const command = (text: string, more = {}) => ({ type: 'command', command: text, ...more });
const guarded = ({ hooks }: ReturnType<typeof read>) =>
  hooks.map((entry) => [entry.event, entry.matcher, 'command' in entry ? entry.command : null]);

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
  expect(hooks).toMatchObject([
    { event: 'PreToolUse', matcher: 'mcp__shop__.*', command: './check.sh', timeoutMs: 5_000 },
    { event: 'PreToolUse', matcher: 'mcp__shop__.*', command: 'log', timeoutMs: 60_000 },
    { event: 'PreToolUse', matcher: '', command: 'all', timeoutMs: 60_000 },
    { event: 'SessionEnd', matcher: 'clear', command: 'bye', timeoutMs: 60_000 },
  ]);
  expect(hooks[0]?.source).toMatchObject({ file: 'bridle.json', line: 10 });
});

const GATES = ['PreToolUse', 'UserPromptSubmit', 'Elicitation'] as const;

describe.each(GATES)('an entry of %s that can not be read denies what it is for', (event) => {
  test.each<[string, unknown, string, string]>([
    ['no list', {}, 'hooks_unreadable', ''],
    ['a group that is no object', ['./a.sh'], 'hooks_unreadable', ''],
    ['a group without hooks', [{ matcher: 'a' }], 'hooks_unreadable', 'a'],
    ['a group whose hooks are no list', [{ matcher: 'a', hooks: command('a') }], 'hooks_unreadable', 'a'],
    ['another type', [{ matcher: 'a', hooks: [{ type: 'prompt', prompt: 'x' }] }], 'hook_type_unknown', 'a'],
    [
      'a type that is no text',
      [{ matcher: 'a', hooks: [{ type: ['command'], command: 'a' }] }],
      'hook_type_unknown',
      'a',
    ],
    ['a command of another form', [{ matcher: 'a', hooks: [command('a', { args: ['b'] })] }], 'hook_type_unknown', 'a'],
    ['a command of another shell', [{ hooks: [command('a', { shell: 'powershell' })] }], 'hook_type_unknown', ''],
    ['a command that is empty', [{ matcher: 'a', hooks: [command(' ')] }], 'hooks_unreadable', 'a'],
    [
      'a command that is no text',
      [{ matcher: 'a', hooks: [{ type: 'command', command: ['a'] }] }],
      'hooks_unreadable',
      'a',
    ],
    ['a hook that is no object', [{ matcher: 'a', hooks: ['./a.sh'] }], 'hooks_unreadable', 'a'],
  ])('%s', (_, value, code, matcher) => {
    const found = read({ [event]: value });
    expect(found.codes).toEqual([code]);
    expect(found.warnings[0]?.text).toContain('What it stands before does not happen.');
    expect(guarded(found)).toEqual([[event, matcher, null]]);
  });
});

test.each<[string, unknown, string[]]>([
  ['an event of others', { Stop: [{ hooks: [command('a')] }] }, ['hook_event_unknown']],
  ['no event at all', { Nothing: [{ hooks: [command('a')] }] }, ['hook_event_unknown']],
  ['a slip that means no gate', { SessionStarts: [{ hooks: [command('a')] }] }, ['hook_event_unknown']],
  ['an event after the fact that is no list', { PostToolUse: {} }, ['hooks_unreadable']],
  ['a group of one that is no object', { SessionEnd: ['./a.sh'] }, ['hooks_unreadable']],
  ['another type after the fact', { PostToolUse: [{ hooks: [{ type: 'http' }] }] }, ['hook_type_unknown']],
  ['another program', { from: ['cursor'] }, ['hooks_from_unknown']],
])('%s is only reported', (_, hooks, codes) => {
  const found = read(hooks);
  expect(found.codes).toEqual(codes);
  expect(found.hooks).toEqual([]);
});

test('what is no object of events stands before everything, as far as anybody knows', () => {
  const found = read([]);
  expect(found.codes).toEqual(['hooks_unreadable']);
  expect(guarded(found)).toEqual(GATES.map((event) => [event, '', null]));
});

test.each(['PreToolUsed', 'pretooluse', 'pre_tool_use', 'UserPromtSubmit', 'Elicitations'])(
  'the slip %s guards what was meant',
  (name) => {
    const found = read({ [name]: [{ matcher: 'a', hooks: [command('a')] }] });
    expect(found.codes).toEqual(['hook_event_unknown']);
    expect(found.hooks).toMatchObject([{ matcher: '', problem: expect.stringContaining('is no event') }]);
  },
);

test('a time that is none counts as the default', () => {
  const { hooks, codes } = read({ PreToolUse: [{ hooks: [command('a', { timeout: -1 })] }] });
  expect(codes).toEqual(['hook_timeout_invalid']);
  expect(hooks).toMatchObject([{ timeoutMs: 60_000 }]);
});

test.each([{ matcher: 7 }, { Matcher: 'a' }, { macher: 'a' }])('of %j the hooks say yes to nothing', (group) => {
  const { hooks, codes } = read({ PreToolUse: [{ ...group, hooks: [command('a')] }] });
  expect(codes.at(-1)).toBe('hook_matcher_unreadable');
  expect(hooks).toMatchObject([{ matcher: '', problem: expect.stringContaining('matcher') }]);
});

test.each(['if', 'If'])('a hook for some calls of what its matcher names, by %j, is for none', (key) => {
  const { hooks, codes } = read({ PreToolUse: [{ matcher: 'a', hooks: [command('a', { [key]: 'Bash(git *)' })] }] });
  expect(codes).toEqual(['hooks_unreadable']);
  expect(hooks).toMatchObject([{ matcher: 'a', problem: expect.stringContaining(`"${key}"`) }]);
});

test('one that can not be read costs no other', () => {
  const { hooks } = read({ PreToolUse: [{ hooks: [{ type: 'http' }, command('a')] }, 'x'], SessionEnd: 'no' });
  expect(hooks).toMatchObject([{ problem: expect.any(String) }, { command: 'a' }, { problem: expect.any(String) }]);
});

test('of a key that stands twice no guard is lost', () => {
  const group = (hook: string) => `[{"matcher": "a", "hooks": [{"type": "command", "command": "${hook}"}]}]`;
  const events = readText(`{"hooks": {"PreToolUse": ${group('a')}, "PreToolUse": ${group('b')}}}`);
  expect(guarded(events)).toEqual([
    ['PreToolUse', 'a', 'a'],
    ['PreToolUse', 'a', 'b'],
  ]);
  const blocks = readText(`{"hooks": {"PreToolUse": ${group('a')}}, "hooks": {"from": "claude"}}`);
  expect(guarded(blocks)).toEqual([['PreToolUse', 'a', 'a']]);
  expect(blocks.from).toEqual(['claude']);
  const matchers = readText('{"hooks": {"PreToolUse": [{"matcher": "a", "matcher": "b", "hooks": []}]}}');
  expect(guarded(matchers)).toEqual([['PreToolUse', '', null]]);
  const commands = readText(
    '{"hooks": {"PreToolUse": [{"matcher": "a", "hooks": [{"command": "exit 2", "command": "true"}]}]}}',
  );
  expect(guarded(commands)).toEqual([['PreToolUse', 'a', null]]);
});

test('of more hooks than are run the guards deny', () => {
  const many = Array.from({ length: 150 }, (_, nth) => command(`a${nth}`));
  const found = read({ PreToolUse: [{ matcher: 'a', hooks: many }], PostToolUse: [{ hooks: many }] });
  expect(found.codes).toEqual(['hooks_too_many']);
  expect(found.hooks).toHaveLength(200);
  const turned = read({ PostToolUse: [{ hooks: many }], PreToolUse: [{ matcher: 'a', hooks: many }] });
  expect(turned.hooks).toHaveLength(201);
  expect(turned.hooks.at(-1)).toMatchObject({ event: 'PreToolUse', matcher: '', problem: expect.any(String) });
});
