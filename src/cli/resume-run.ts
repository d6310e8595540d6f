import { sep } from 'node:path';
import type { ResumeOptions, UnsureAnswer } from '../agent/index.ts';
import { listTraces, type Trace, type TraceSummary } from '../dispatch/index.ts';
import { MAIN_AGENT, type Prompter, visibleText } from '../host/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { stringOption } from './parse.ts';
import { findTrace, tracesDir } from './traces.ts';

/**
 * The run that `bridle run --resume [ID]` means: the one of this id, or the newest of this folder that has not ended.
 *
 * @throws BridleError `trace_not_found`, `run_ended`, `usage`
 */
export async function runToResume(id: string | undefined, io: CommandIo): Promise<TraceSummary> {
  if (id === undefined) {
    const open = (await listTraces(tracesDir(io))).find(
      ({ end, project }) => end === undefined && (project === undefined || isIn(io.cwd, project)),
    );
    if (open) return open;
    throw new BridleError('trace_not_found', 'No run of this folder broke off.', {
      hint: "'bridle trace list' shows all runs; give the id of one.",
    });
  }
  const found = await findTrace(id, io);
  if (found.end !== undefined) {
    throw new BridleError('run_ended', `The run '${printable(found.run)}' has ended (${printable(found.end)}).`, {
      hint: `'bridle trace show ${printable(found.run)}' shows what came of it.`,
    });
  }
  if (found.project !== undefined && !isIn(io.cwd, found.project)) {
    throw new BridleError('usage', `The run '${printable(found.run)}' belongs to another folder.`, {
      hint: `Go to ${printable(found.project)} first.`,
    });
  }
  return found;
}

function isIn(folder: string, project: string): boolean {
  return folder === project || folder.startsWith(project.endsWith(sep) ? project : `${project}${sep}`);
}

/** The command line of the run, as far as it was written down and nothing else is said now. */
export function asItWas(parsed: ParsedCommand, { agent = MAIN_AGENT }: { readonly agent?: string }): ParsedCommand {
  if (agent === MAIN_AGENT || stringOption(parsed, 'agent') !== undefined) return parsed;
  return { ...parsed, options: new Map([...parsed.options, ['agent', agent]]) };
}

/** Whether anything was said in the run before it broke off. */
export async function wasBegun(trace: Trace): Promise<boolean> {
  for await (const { type } of trace.events()) if (type === 'input') return true;
  return false;
}

const CHOICES =
  'a: make it again, as any call. t: it took effect; the agent is told so. u: I do not know; the agent is told that.\n' +
  'What is to be done? [a/t/u] ';
const TRIES = 3;

/** Asks the person at the terminal about a call that may have taken effect. Without an answer nobody knows. */
export function unsureAsker(prompter: Prompter): NonNullable<ResumeOptions['unsure']> {
  return ({ name, args, facts, at }, signal) =>
    prompter.alone(async (): Promise<UnsureAnswer> => {
      const told = facts === undefined ? '' : `  what it does: ${visibleText(JSON.stringify(facts))}\n`;
      prompter.write(
        `\nThis call was being made when the run broke off (${new Date(at).toISOString()}), and it may have taken effect:\n` +
          `  ${visibleText(name)} ${visibleText(JSON.stringify(args))}\n${told}`,
      );
      for (let tries = 0; tries < TRIES; tries++) {
        const line = await prompter.ask(CHOICES, signal);
        if (line === undefined) return 'unknown';
        const word = line.trim().toLowerCase();
        if (word === 'a' || word === 'again') return 'run_again';
        if (word === 't') return 'took_effect';
        if (word === 'u') return 'unknown';
      }
      return 'unknown';
    });
}
