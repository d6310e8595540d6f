import type { Json } from '../contracts/index.ts';
import type { AlwaysRecord, ApprovalRecord, Approvals } from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { approvalInbox, personName } from './approval-inbox.ts';
import { alwaysLine, approvalLine, approvalText } from './approval-text.ts';
import { APPROVALS_VERBS } from './approvals-verbs.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { nearest } from './nearest.ts';
import { flag, listOption, stringOption } from './parse.ts';
import { printJson } from './print-json.ts';

type Verb = (inbox: Approvals, parsed: ParsedCommand, io: CommandIo) => Promise<void>;

const RUN: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['list', list],
  ['show', show],
  ['approve', approve],
  ['deny', deny],
  ['revoke', revoke],
]);

/** `bridle approvals <verb>`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [name = ''] = parsed.positionals;
  const verb = RUN.get(name);
  if (!verb) {
    const near = nearest(name, [...RUN.keys()]);
    throw new BridleError(
      'usage',
      `There is no 'bridle approvals ${printable(name)}'.${near ? ` Did you mean '${near}'?` : ''}`,
      { hint: `It is one of ${Object.keys(APPROVALS_VERBS).join(', ')}.` },
    );
  }
  const own = approvalInbox(io);
  try {
    await verb(await own.open(), parsed, io);
  } finally {
    await own.close();
  }
  return 0;
}

async function list(inbox: Approvals, parsed: ParsedCommand, io: CommandIo): Promise<void> {
  const agent = stringOption(parsed, 'agent');
  const all = flag(parsed, 'all');
  const found = await inbox.list({ ...(!all && { state: 'open' }), ...(agent !== undefined && { agent }) });
  const standing = (await inbox.standing()).filter(
    (each) => (all || each.state === 'standing') && (agent === undefined || each.who.agent === agent),
  );
  if (flag(parsed, 'json')) {
    printJson(io, { approvals: found, always: standing }, 2);
    return;
  }
  for (const each of found) io.stdout.write(`${approvalLine(each)}\n`);
  for (const each of standing) io.stdout.write(`${alwaysLine(each)}\n`);
  if (found.length + standing.length === 0) {
    io.stdout.write(all ? 'There are no approvals.\n' : "Nothing waits for an answer; '--all' shows what was.\n");
  }
}

async function show(inbox: Approvals, parsed: ParsedCommand, io: CommandIo): Promise<void> {
  print(await inbox.show(idOf(parsed)), parsed, io);
}

async function approve(inbox: Approvals, parsed: ParsedCommand, io: CommandIo): Promise<void> {
  const patterns = listOption(parsed, 'when').map(patternOf);
  const twice = patterns.find(([pointer], nth) => patterns.findIndex(([other]) => other === pointer) !== nth);
  if (twice) {
    throw new BridleError('usage', `--when names '${printable(twice[0])}' twice.`, {
      hint: 'One argument has one pattern, and all arguments that are named have to match.',
    });
  }
  const isAlways = flag(parsed, 'always');
  if (patterns.length > 0 && !isAlways) {
    throw new BridleError('usage', '--when goes with --always.', { hint: 'An approval alone is for this call only.' });
  }
  const args = argsOf(stringOption(parsed, 'args'));
  if (args !== undefined && isAlways) throw new BridleError('usage', 'Give either --args or --always.');
  const approved = await inbox.approve(idOf(parsed), {
    by: personName(),
    ...(args !== undefined && { args }),
    ...(isAlways && { always: { when: Object.fromEntries(patterns) } }),
  });
  if (flag(parsed, 'json')) {
    printJson(io, approved);
    return;
  }
  const until = new Date(approved.expiresAt).toISOString();
  io.stdout.write(`Approved: ${approvalLine(approved)}\n`);
  io.stdout.write(`It runs when the call is made again, until ${until}: give the agent the same task.\n`);
}

async function deny(inbox: Approvals, parsed: ParsedCommand, io: CommandIo): Promise<void> {
  const reason = stringOption(parsed, 'reason');
  const denied = await inbox.deny(idOf(parsed), { by: personName(), ...(reason !== undefined && { reason }) });
  if (flag(parsed, 'json')) printJson(io, denied);
  else io.stdout.write(`Denied: ${approvalLine(denied)}\n`);
}

async function revoke(inbox: Approvals, parsed: ParsedCommand, io: CommandIo): Promise<void> {
  const revoked: AlwaysRecord = await inbox.revoke(idOf(parsed), { by: personName() });
  if (flag(parsed, 'json')) printJson(io, revoked);
  else io.stdout.write(`Revoked: ${alwaysLine(revoked)}\n`);
}

function print(approval: ApprovalRecord, parsed: ParsedCommand, io: CommandIo): void {
  if (flag(parsed, 'json')) printJson(io, approval, 2);
  else io.stdout.write(approvalText(approval));
}

function idOf(parsed: ParsedCommand): string {
  return parsed.positionals[1] ?? '';
}

function patternOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new BridleError('usage', `--when '${printable(text)}' has no pattern.`, {
    hint: "It is a JSON Pointer to an argument and a pattern: --when '/path=notes/*'.",
  });
}

function argsOf(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new BridleError('usage', '--args is not JSON.', { hint: 'Give all arguments as one JSON object.', cause });
  }
}
