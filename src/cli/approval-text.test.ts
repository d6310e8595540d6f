import { expect, test } from 'vitest';
import type { ApprovalRecord } from '../policy/index.ts';
import { approvalLine } from './approval-text.ts';

const RECORD = {
  id: 'a-1',
  state: 'approved',
  requestedAt: Date.parse('2026-01-15T12:00:00Z'),
  binding: { server: { key: 'shop' }, tool: 'refund' },
  who: { agent: 'main', via: 'terminal' },
  args: { id: 'TX-88' },
  decisions: [],
} as unknown as ApprovalRecord;

const decided = (args?: { id: string }): ApprovalRecord => ({
  ...RECORD,
  decisions: [{ answer: 'approve', by: 'ada', at: 1, ...(args && { args }) }],
});

test('a line tells the arguments that were asked about, and those that were approved in their place', () => {
  expect(approvalLine(decided())).toBe(
    'a-1  approved  2026-01-15 12:00:00  main: refund of server shop {"id":"TX-88"}',
  );
  expect(approvalLine(decided({ id: 'TX-89' }))).toBe(
    'a-1  approved  2026-01-15 12:00:00  main: refund of server shop {"id":"TX-88"}, with {"id":"TX-89"} instead',
  );
  expect(approvalLine(decided({ id: '\u202e' }))).not.toContain('\u202e');
});

test('a no after it takes the other arguments back', () => {
  const { decisions } = decided({ id: 'TX-89' });
  const denied: ApprovalRecord = {
    ...RECORD,
    state: 'denied',
    decisions: [...decisions, { answer: 'deny', by: 'ada', at: 2 }],
  };
  expect(approvalLine(denied)).not.toContain('TX-89');
});
