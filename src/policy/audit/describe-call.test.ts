import { describe, expect, test } from 'vitest';
import { intentRecord, KEY, outcomeRecord } from '../../../test/helpers/audit-place.ts';
import type { Decision, Json } from '../../contracts/index.ts';
import { describeCall, describeEnd } from './describe-call.ts';
import { redactor } from './redact.ts';

const options = { key: KEY, redactor: redactor(['/card']), keepsArguments: true };

/** As a hook decides it. */
function hooked(text: string, input?: Json): Decision {
  const reasons = [{ room: 'hooks', code: 'hook_denied', text }];
  return { effect: 'deny', policyVersion: 'p1', reasons, ...(input !== undefined && { input }) };
}

const reasonOf = (args: Json, decision: Decision, more: Partial<typeof options> = {}) =>
  describeCall(intentRecord('1', args, { decision }), { ...options, ...more }).decision?.reasons[0]?.text;

describe("the reason of a hook, in an audit's record", () => {
  test('is told, without what was taken out of the arguments', () => {
    const args = { card: '4111-1111', password: 'pass"word', amount: 5 };
    expect(reasonOf(args, hooked('Card 4111-1111 may not be charged 5.'))).toBe(
      'Card [redacted] may not be charged 5.',
    );
    expect(reasonOf(args, hooked(`It was given ${JSON.stringify(args)}.`))).toBe(
      'It was given {"card":"[redacted]","password":"[redacted]","amount":5}.',
    );
  });

  test('leaves nothing of a longer secret that begins with a shorter one', () => {
    const args = { card: '4111', password: '4111-2222-3333' };
    expect(reasonOf(args, hooked('Not with 4111-2222-3333.'))).toBe('Not with [redacted].');
  });

  test('is told without the secrets of the arguments that the hook put in', () => {
    const decision = hooked('The token is tok-12345 now.', { token: 'tok-12345' });
    expect(reasonOf({ token: 'tok-00000' }, decision)).toBe('The token is [redacted] now.');
  });

  test('tells no argument where arguments are told by their digests only', () => {
    const decision = hooked('Nothing for ada@example.org.');
    expect(reasonOf({ to: 'ada@example.org' }, decision, { keepsArguments: false })).toBe('Nothing for [redacted].');
  });
});

test('arguments that were changed are told beside those that were proposed, both without secrets', () => {
  const record = intentRecord('1', { amount: 5, token: 'tok-2' }, { proposed: { amount: 900, token: 'tok-1' } });
  expect(describeCall(record, options)).toMatchObject({
    args: { amount: 5, token: '[redacted]' },
    proposed: { args: { amount: 900, token: '[redacted]' }, argsDigest: expect.stringMatching(/^hmac-sha256:/) },
  });
  const { proposed } = describeCall(record, { ...options, keepsArguments: false });
  expect(Object.keys(proposed ?? {})).toEqual(['argsDigest']);
  expect(describeCall(intentRecord('1'), options)).not.toHaveProperty('proposed');
});

test('the end of a call says which earlier call it was answered by', () => {
  const answeredBy = { callId: 'first', at: 7 };
  expect(describeEnd(outcomeRecord('1', {}, { attempts: 0, answeredBy }))).toMatchObject({ attempts: 0, answeredBy });
  expect(describeEnd(outcomeRecord('1'))).not.toHaveProperty('answeredBy');
});

test('arguments are told by their digest where they are no JSON, and without what lies very deep', () => {
  const broken = describeCall(outcomeRecord('1', '{"password": "hunter22"'), options);
  expect(JSON.stringify(broken)).not.toContain('hunter22');
  expect(broken.argsDigest).toMatch(/^hmac-sha256:/);
  let deep: Json = 'hunter22';
  for (let depth = 0; depth < 450; depth += 1) deep = { a: deep };
  const decision = hooked('It holds hunter22.');
  const told = describeCall(intentRecord('1', { b: 1, deep }, { decision }), options);
  expect(JSON.stringify(told)).not.toContain('hunter22');
  expect(told.args).toMatchObject({ b: 1 });
});
