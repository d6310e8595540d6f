import { type ListedHook, loadProject, visibleText } from '../host/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { flag } from './parse.ts';
import { printJson } from './print-json.ts';
import { styleFor } from './style.ts';
import { reasonLine, warn } from './workspace.ts';

/** `bridle hooks list`. Runs nothing and asks nobody. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [verb] = parsed.positionals;
  if (verb !== 'list') {
    throw new BridleError('usage', `There is no 'bridle hooks ${printable(verb ?? '')}'.`, {
      hint: "It is 'bridle hooks list'.",
    });
  }
  const project = await loadProject({ cwd: io.cwd, env: io.env, untrusted: 'leave' });
  const ofHooks = project.warnings.filter(({ code }) => code.startsWith('hook'));
  if (flag(parsed, 'json')) {
    printJson(io, { hooks: project.hooks.map(shownHook), warnings: ofHooks }, 2);
    return 0;
  }
  warn(ofHooks, io);
  const style = styleFor(io.stdout, io.env);
  if (project.hooks.length === 0) {
    io.stdout.write('No hooks. "hooks" in a bridle.json puts commands behind events.\n');
    return 0;
  }
  for (const hook of project.hooks) {
    const { entry, scope, state, reason } = hook;
    const which = entry.matcher === '' ? 'all' : printable(entry.matcher);
    const mark = state === 'ready' ? style.green(state) : style.yellow(state.replace('_', ' '));
    io.stdout.write(`${style.bold(entry.event)} ${which}  ${mark}  ${scope}\n`);
    if ('command' in entry) io.stdout.write(`  ${visibleText(entry.command)}\n`);
    const { source } = entry;
    const text = reason ?? ('command' in entry ? `at most ${entry.timeoutMs / 1_000} s` : entry.problem);
    io.stdout.write(style.dim(`  ${reasonLine({ room: 'cli', code: 'hook', text, source })}\n`));
  }
  return 0;
}

/** A hook as `--json` shows it. */
export function shownHook({ entry, scope, state, reason }: ListedHook) {
  const { event, matcher, source } = entry;
  return {
    event,
    matcher,
    ...('command' in entry && { command: entry.command, timeoutMs: entry.timeoutMs }),
    scope,
    file: source.file,
    ...(source.line !== undefined && { line: source.line }),
    state,
    ...(reason !== undefined && { reason }),
  };
}
