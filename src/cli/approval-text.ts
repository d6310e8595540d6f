import type { Json, Reason } from '../contracts/index.ts';
import { visibleText } from '../host/index.ts';
import type { AlwaysRecord, ApprovalDecision, ApprovalRecord } from '../policy/index.ts';

/** One approval on a line. */
export function approvalLine(approval: ApprovalRecord): string {
  const { id, state, requestedAt, binding, decisions } = approval;
  const last = decisions.at(-1);
  const other = last?.answer === 'approve' && last.args !== undefined ? `, with ${briefly(last.args)} instead` : '';
  const what = inline(`${toolName(binding)} ${briefly(approval.args)}${other}`);
  return `${id}  ${state.padEnd(8)}  ${time(requestedAt)}  ${whose(approval)}: ${what}`;
}

function briefly(args: Json): string {
  const text = JSON.stringify(args);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** One standing approval on a line. */
export function alwaysLine(always: AlwaysRecord): string {
  const { id, state, binding, when, expiresAt, by } = always;
  const patterns = when.map(([pointer, pattern]) => ` ${pointer}=${pattern}`).join('');
  const what = inline(`${toolName(binding)}${patterns}`);
  const end = state === 'standing' ? `until ${time(expiresAt)}` : `${state}: ${inline(always.ended?.why ?? '')}`;
  return `${id}  always    ${whose(always)}: ${what} (by ${inline(by)}, ${end})`;
}

/** Everything that somebody needs to decide, and what came of it. Unseen characters stand as their escapes. */
export function approvalText(approval: ApprovalRecord): string {
  const { binding, who, behind, facts, factsMissing, title, description } = approval;
  const lines = [
    `${approval.id}: ${stateText(approval)}`,
    `  ${whose(approval)} asks to run ${inline(toolName(binding))}${title === undefined ? '' : ` (${inline(title)})`}`,
    ...(binding.place === '' ? [] : [`  in: ${inline(binding.place)}`]),
    `  asked: ${time(approval.requestedAt)}, call ${inline(approval.callId)}${who.user === undefined ? '' : `, for ${inline(who.user)}`}`,
    ...(description === '' ? [] : [`  it says of itself: ${inline(description.slice(0, 300))}`]),
    ...titled('arguments', approval.args),
    ...(behind === undefined ? [] : titled(`which calls ${inline(behind.tool)} with`, behind.args)),
    ...(facts === undefined ? [] : titled('what it would do', facts)),
    ...(factsMissing === undefined ? [] : [`  what it would do is not known: ${inline(factsMissing)}`]),
    ...approval.reasons.map((reason) => `  why: ${inline(reasonText(reason))}`),
    ...approval.decisions.flatMap(decisionLines),
    ...usedLines(approval),
  ];
  return `${lines.join('\n')}\n`;
}

function stateText({ state, expiresAt, ended }: ApprovalRecord): string {
  switch (state) {
    case 'waiting':
      return `waits for an answer, until ${time(expiresAt)}`;
    case 'approved':
      return `approved, to be used until ${time(expiresAt)}`;
    case 'denied':
      return `denied, which stands until ${time(expiresAt)}`;
    case 'used':
      return 'used';
    case 'expired':
      return `expired (${inline(ended?.why ?? '')})`;
    case 'void':
      return `void (${inline(ended?.why ?? '')})`;
  }
}

function usedLines({ used }: ApprovalRecord): readonly string[] {
  if (used === undefined) return [];
  const { outcome, callId, at } = used;
  if (outcome === undefined) {
    const unknown = 'how it ended is not known: it runs, or its process ended in the middle of it';
    return [`  used: ${time(at)}, call ${inline(callId)}; ${unknown}`];
  }
  const effect = outcome.executed === undefined ? '' : `, ${outcome.executed.replace('_', ' ')}`;
  const how = outcome.isError === true ? 'the tool answered with an error' : outcome.kind;
  return [`  used: ${time(at)}, call ${inline(callId)}; ended: ${how}${effect}`];
}

function decisionLines({ answer, by, at, reason, args, always }: ApprovalDecision): readonly string[] {
  const said = `  ${answer === 'approve' ? 'approved' : 'denied'} by ${inline(by)}, ${time(at)}`;
  return [
    `${said}${always === undefined ? '' : `, as ${always} says`}${reason === undefined ? '' : `: ${inline(reason)}`}`,
    ...(args === undefined ? [] : titled('with these arguments instead', args)),
  ];
}

function toolName({ server, tool }: Pick<ApprovalRecord['binding'], 'server' | 'tool'>): string {
  return server === null ? tool : `${tool} of server ${server.key}`;
}

function whose({ who }: Pick<ApprovalRecord, 'who'>): string {
  return inline(who.agent);
}

function reasonText({ text, source }: Reason): string {
  return source ? `${text} (${source.file}${source.line === undefined ? '' : `:${source.line}`})` : text;
}

function titled(title: string, value: Json): readonly string[] {
  const [first = '', ...rest] = JSON.stringify(value, null, 2).split('\n').map(inline);
  return [`  ${title}: ${first}`, ...rest.map((line) => `  ${line}`)];
}

function time(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}

function inline(text: string): string {
  return visibleText(text);
}
