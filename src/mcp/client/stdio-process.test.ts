import { afterEach, expect, test } from 'vitest';
import { signalGroup } from './process-group.ts';
import { type ProcessEnd, type StdioProcess, startProcess } from './stdio-process.ts';

const started: StdioProcess[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((child) => child.stop()));
});

/** Runs a program of Node; resolves when it can't answer any more. */
async function run(program: string, onLine: (line: string) => void = () => {}): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    const launch = { command: process.execPath, args: ['-e', program], env: {}, cwd: '/', stopMs: 500 };
    started.push(startProcess(launch, { line: onLine, end: resolve }));
  });
}

test('one that left its output to somebody who goes on writing there has ended all the same', async () => {
  let writer = 0;
  const end = await run(
    `const { spawn } = require('node:child_process');
    const writer = spawn(process.execPath, ['-e', 'setInterval(() => console.log("still here"), 5)'], {
      stdio: ['ignore', 'inherit', 'ignore'],
      detached: true,
    });
    console.log(writer.pid);
    setTimeout(() => process.exit(3), 50);`,
    (line) => {
      writer ||= Number(line);
    },
  );
  signalGroup(writer, 'SIGKILL');
  expect(end).toEqual({ how: 'exited', code: 3, signal: null });
});
