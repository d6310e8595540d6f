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
    ['that it is not its to say', 'PreToolUse', json({ hookSpecificOutput: { permissionDecision: 'defer' } }), {}],
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
    ['a decision of another type', 'PreToolUse', json({ decision: true })],
    ['the answer to another event', 'PreToolUse', json({ hookSpecificOutput: { hookEventName: 'PostToolUse' } })],
    ['an input that is no object', 'PreToolUse', json({ hookSpecificOutput: { updatedInput: [1] } })],
    ['a reason that is no text', 'PreToolUse', json({ reason: 7 })],
    ['an action that there is not', 'Elicitation', json({ hookSpecificOutput: { action: 'yes' } })],
  ])('%s is no answer', (_, event, stdout) => {
    expect(() => readHookOutput(event, stdout)).toThrow(HookOutputError);
  });
});
