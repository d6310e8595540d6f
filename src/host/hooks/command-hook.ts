import { runShellCommand, type ShellCommandEnd } from '../../mcp/client/index.ts';
import { type Hook, type HookAnswer, type HookEvent, readHookOutput } from '../../policy/index.ts';
import { BridleError, printable } from '../../tools/index.ts';
import { type CommandEntry, type HookEntry, placeOf } from './hook-entry.ts';

/** Longest part of what a hook wrote to stderr that is shown, in characters. */
const LONGEST_SAID = 2_000;
/** Ends that block what the hook stands before, as in Claude Code. */
const BLOCKS = 2;

export interface CommandHookOptions {
  /** The project's folder, in which it runs. */
  readonly root: string;
  /** Environment of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * A hook that runs a command in the project's folder: the event as JSON on stdin, the answer by how it ends.
 *
 * | end            | means                                                               |
 * |----------------|---------------------------------------------------------------------|
 * | 0              | what it wrote to stdout: JSON, or text as context where that goes   |
 * | 2              | blocked; the reason is what it wrote to stderr                      |
 * | any other, none | it failed: what it stands before doesn't happen                    |
 */
export function commandHook(entry: CommandEntry, { root, env }: CommandHookOptions): Hook {
  const { event, matcher, command, timeoutMs, source } = entry;
  return {
    event,
    matcher,
    name: command,
    key: JSON.stringify([event, command]),
    source,
    timeoutMs,
    async run(input, signal) {
      const end = await runShellCommand(command, {
        cwd: root,
        own: env,
        env: { CLAUDE_PROJECT_DIR: root, BRIDLE_PROJECT_DIR: root },
        stdin: `${JSON.stringify(input)}\n`,
        signal,
      });
      return answerOf(event, end);
    },
  };
}

function answerOf(event: HookEvent, { code, stdout, stderr, isCut }: ShellCommandEnd): HookAnswer {
  const said = printable(stderr.trim(), { newlines: true, maxLength: LONGEST_SAID });
  if (code === BLOCKS) return { permission: 'deny', ...(said !== '' && { reason: said }) };
  if (code === 0) {
    if (isCut) throw new Error('it wrote more than 1 MiB');
    return readHookOutput(event, stdout);
  }
  const how = code === null ? 'it was ended by a signal' : `it ended with ${code}`;
  throw new Error(said === '' ? how : `${how}: ${said}`);
}

/** Stands where a hook would, and fails: for one that can't or may not be run, and that somebody relies on. */
export function heldBackHook(entry: HookEntry, why: string): Hook {
  const { event, matcher, source } = entry;
  const run = () => Promise.reject(new BridleError('hook_held_back', why));
  return { event, matcher, name: hookName(entry), source, run };
}

/** What people know a hook by: its command, or the place of one that has none which could be run. */
function hookName(entry: HookEntry): string {
  if ('command' in entry) return entry.command;
  return placeOf(entry.source);
}
