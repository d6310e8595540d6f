import { describe, expect, test } from 'vitest';
import type { HookAnswer, HookEvent } from './hook.ts';
import { HookOutputError, readHookOutput } from './read-answer.ts';

const json = (value: unknown) => JSON.stringify(value);

describe('what a hook prints', () => {
  test.each<[string, HookEvent, string, HookAnswer]>([
    ['nothing', 'PreToolUse', ' \n', {}],
    ['a text before a call', 'PreToolUse', 'looks fine', {}],
    ['a text at the start of a session', 'SessionStart', 'It is Monday.', { context: 'It is Monday.' }],
    ['a text at a prompt', 'UserPromptSubmit', 'Branch: main', { context: 'Branch: main' }],
    [
      'a decision',
      'PreToolUse',
      json({
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'deny',
          permissionDecisionReason: 'No.',
          updatedInput: { a: 1 },
        },
      }),
      { permission: 'deny', reason: 'No.', updatedInput: { a: 1 } },
    ],
    [
      'an older decision',
      'PreToolUse',
      json({ decision: 'approve', reason: 'ok' }),
      { permission: 'allow', reason: 'ok' },
    ],
    [
      'a block',
      'UserPromptSubmit',
      json({ decision: 'block', reason: 'secret' }),
      { permission: 'deny', reason: 'secret' },
    ],
    [
      'that somebody decides on it later',
      'PreToolUse',
      json({ hookSpecificOutput: { permissionDecision: 'defer' } }),
      { permission: 'ask' },
    ],
    [
      'both kinds of decision, of which the stricter counts',
      'PreToolUse',
      json({ decision: 'block', reason: 'No.', hookSpecificOutput: { permissionDecision: 'allow' } }),
      { permission: 'deny', reason: 'No.' },
    ],
    [
      'both kinds of decision, the other way round',
      'PreToolUse',
      json({ decision: 'approve', hookSpecificOutput: { permissionDecision: 'defer' } }),
      { permission: 'ask' },
    ],
    ['nothing to object, and what has no use here', 'PreToolUse', json({ continue: true, suppressOutput: true }), {}],
    ['a text with JSON of its own', 'UserPromptSubmit', 'The file:\n{"a": 1}', { context: 'The file:\n{"a": 1}' }],
    ['an end', 'PostToolUse', json({ continue: false, stopReason: 'Done.' }), { stop: 'Done.' }],
    [
      'context and a message',
      'PostToolUse',
      json({
        systemMessage: 'hi',
        hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'Lint failed.' },
      }),
      { context: 'Lint failed.', message: 'hi' },
    ],
    [
      'an answer to a question',
      'Elicitation',
      json({ hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept', content: { name: 'x' } } }),
      { elicitation: { action: 'accept', content: { name: 'x' } } },
    ],
    ['control characters', 'SessionStart', 'a\u001b[31mb\u200b', { context: 'ab' }],
  ])('%s', (_, event, stdout, answer) => {
    expect(readHookOutput(event, stdout)).toEqual(answer);
  });

  test.each<[string, HookEvent, string]>([
    ['JSON that is cut', 'PreToolUse', '{"decision": "block"'],
    ['a decision that there is not', 'PreToolUse', json({ hookSpecificOutput: { permissionDecision: 'maybe' } })],
    ['a decision in another case', 'PreToolUse', json({ hookSpecificOutput: { permissionDecision: 'Deny' } })],
    ['a decision that is empty', 'PreToolUse', json({ hookSpecificOutput: { permissionDecision: '' } })],
    [
      'an unknown decision beside a known one',
      'PreToolUse',
      json({ decision: 'refuse', hookSpecificOutput: { permissionDecision: 'allow' } }),
    ],
    ['a decision in the wrong place', 'PreToolUse', json({ permissionDecision: 'deny' })],
    ['an older decision in the wrong place', 'PreToolUse', json({ hookSpecificOutput: { decision: 'block' } })],
    ['a decision under another spelling', 'PreToolUse', json({ hookSpecificOutput: { permission_decision: 'deny' } })],
    ['an answer under another spelling', 'PreToolUse', json({ hook_specific_output: { permissionDecision: 'deny' } })],
    ['an end that is no truth value', 'PreToolUse', json({ continue: 'false' })],
    ['an answer behind other text', 'PreToolUse', `Welcome!\n${json({ decision: 'block' })}`],
    ['a decision of another type', 'PreToolUse', json({ decision: true })],
    ['the answer to another event', 'PreToolUse', json({ hookSpecificOutput: { hookEventName: 'PostToolUse' } })],
    ['an input that is no object', 'PreToolUse', json({ hookSpecificOutput: { updatedInput: [1] } })],
    ['a reason that is no text', 'PreToolUse', json({ reason: 7 })],
    ['an action that there is not', 'Elicitation', json({ hookSpecificOutput: { action: 'yes' } })],
  ])('%s is no answer', (_, event, stdout) => {
    expect(() => readHookOutput(event, stdout)).toThrow(HookOutputError);
  });
});
