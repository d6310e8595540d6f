import { expect, test } from 'vitest';
import type { CallContext } from '../contracts/index.ts';
import { defineTool } from './define-tool.ts';
import { ToolFailure } from './failure.ts';
import { planThenAct } from './plan-then-act.ts';

const ctx = { who: { agent: 'a', via: 'library' }, signal: new AbortController().signal } as CallContext;

function close(open: Set<string>) {
  const { preview, handler } = planThenAct(
    ({ account }: { account: string }) => {
      if (!open.has(account)) throw new ToolFailure(`There is no account ${account}.`, { executed: 'not_executed' });
      return { closes: account, left: open.size - 1 };
    },
    ({ closes }) => {
      open.delete(closes);
      return `Closed ${closes}.`;
    },
  );
  const input = { type: 'object', properties: { account: { type: 'string' } }, required: ['account'] } as const;
  return defineTool({ name: 'close_account', description: 'Closes an account.', input, preview }, handler);
}

test('the plan is shown without anything being done', async () => {
  const open = new Set(['a', 'b']);
  expect(await close(open).preview?.({ account: 'a' }, ctx)).toEqual({ closes: 'a', left: 1 });
  expect(open.size).toBe(2);
});

test('the act does what the plan says', async () => {
  const open = new Set(['a', 'b']);
  expect(await close(open).call({ account: 'a' }, ctx)).toMatchObject({ kind: 'result', isError: false });
  expect([...open]).toEqual(['b']);
});

test('what can not be planned is not done', async () => {
  const result = await close(new Set(['a'])).call({ account: 'z' }, ctx);
  expect(result).toMatchObject({ kind: 'failure', failure: { executed: 'not_executed' } });
});
