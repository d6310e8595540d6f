import { PassThrough } from 'node:stream';
import type { CommandIo } from '../../src/cli/command.ts';
import { main } from '../../src/cli/main.ts';

export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Terminal {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What a person types, one line an answer, each as soon as its question stands. Absent: there is no terminal. */
  readonly types?: readonly string[];
  /** What stdin holds, where there is no terminal. */
  readonly piped?: string;
  /** Width of the terminal, where there is one. */
  readonly columns?: number;
}

/** What a question ends with: the letters to choose from, a field of a form, and the form as a whole. */
const QUESTION = /\[[a-z](\/[a-z])*\] $|\n: $|change that\. $/i;

/** Runs a command in this process, as a shell would, with its own streams; a person at the keyboard if asked for. */
export async function bridle(args: readonly string[], { cwd, env, types, piped, columns }: Terminal): Promise<Ran> {
  const stdin = stream(types !== undefined);
  if (piped !== undefined) stdin.end(piped);
  const stdout = Object.assign(stream(types !== undefined), columns !== undefined && { columns });
  const stderr = stream(types !== undefined);
  const said = { stdout: '', stderr: '' };
  const left = [...(types ?? [])];
  stdout.on('data', (chunk: Buffer) => {
    said.stdout += chunk.toString();
  });
  stderr.on('data', (chunk: Buffer) => {
    said.stderr += chunk.toString();
    if (!QUESTION.test(said.stderr)) return;
    // The asker drops what was typed before its question was shown, so the answer comes a moment later.
    setTimeout(() => {
      const line = left.shift();
      if (line === undefined) stdin.end();
      else stdin.write(`${line}\n`);
    }, 150);
  });
  // Servers start as slowly as the machine is busy.
  const surroundings = { BRIDLE_READY_SECONDS: '600', ...env };
  const io: CommandIo = { cwd, env: surroundings, stdin, stdout, stderr } as unknown as CommandIo;
  const status = await main(args, io);
  await new Promise((resolve) => setImmediate(resolve));
  return { status, ...said };
}

function stream(isTTY: boolean): PassThrough & { isTTY: boolean } {
  return Object.assign(new PassThrough(), { isTTY });
}
