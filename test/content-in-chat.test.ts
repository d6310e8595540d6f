import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AtTerminal, atTerminal, type Person, person, runBridle } from './helpers/cli-process.ts';
import { CTRL_D, TAB, typist } from './helpers/typist.ts';

const SERVER = fileURLToPath(new URL('../dist/examples/docs/server.js', import.meta.url));
const LONG = 240_000;

let at: Person;
let terminal: AtTerminal | undefined;
beforeEach(async () => {
  at = await person();
  await at.servers({ docs: { command: process.execPath, args: [SERVER] } });
});
afterEach(async () => {
  terminal?.child.kill('SIGKILL');
  terminal = undefined;
  await at.remove();
});

describe('at a terminal', () => {
  test(
    'Tab completes a mention, which is read into the message',
    async () => {
      terminal = atTerminal(['chat', '--trust-project'], at);
      const user = typist(terminal);
      await user.at(/> $/, `What is in @rep${TAB}`);
      await user.at(/@report\.pdf$/, '?\r');
      await user.sees(/burr grinders/);
      await user.at(/> $/, CTRL_D);
      expect((await terminal.ended).status).toBe(0);
      expect(terminal.output()).toContain('+ docs: docs://documents/report.pdf');
    },
    LONG,
  );

  test(
    'a prompt asks for a missing argument, and leads to the tool that its server then shows',
    async () => {
      terminal = atTerminal(['chat', '--trust-project'], at);
      const user = typist(terminal);
      await user.at(/> $/, '/format\r');
      await user.at(/document_id \(Id of the document to format\): $/, 'plan.md\r');
      await user.sees(/request_edit_access/);
      await user.at(/Run it\? \[[^\]]*\] $/, 'y\r');
      await user.sees(/edit_document/);
      await user.at(/Run it\? \[[^\]]*\] $/, 'y\r');
      await user.at(/\n> $/, CTRL_D);
      expect((await terminal.ended).status).toBe(0);
      expect(terminal.output()).toContain('Edited (document plan.md)');
    },
    LONG,
  );
});

describe('in a pipe', () => {
  test(
    'a chat reads mentions of resources and files, and a prompt with its argument',
    async () => {
      await writeFile(join(at.cwd, 'notes.txt'), 'The kettle is blue.\n');
      const piped = 'What is in @report.pdf?\nWhat is in @notes.txt?\n/format document_id=plan.md\n';
      const allow = ['--allow', 'mcp__docs__request_edit_access', '--allow', 'mcp__docs__edit_document'];
      const { status, stdout } = await runBridle(['chat', '--trust-project', ...allow], at, piped);
      expect(stdout).toContain('burr grinders');
      expect(stdout).toContain('The kettle is blue.');
      expect(stdout).toContain('Edited (document plan.md)');
      expect(status).toBe(0);
    },
    LONG,
  );

  test(
    'a missing argument is an error that says which, and the chat goes on',
    async () => {
      const { status, stdout, stderr } = await runBridle(
        ['chat', '--trust-project'],
        at,
        '/format\nWhat is in @report.pdf?\n',
      );
      expect(stderr).toContain('prompt_argument_missing');
      expect(stderr).toContain('document_id');
      expect(stdout).toContain('burr grinders');
      expect(status).toBe(1);
    },
    LONG,
  );
});

test(
  'a run whose words name what cannot be read sends nothing, and its trace says how it ended',
  async () => {
    const { status, stderr } = await runBridle(['run', '--trust-project', 'What is in @docs:absent?'], at);
    expect(status).toBe(1);
    expect(stderr).toContain('resource_not_found');
    const [events = []] = await at.traces();
    expect(events.at(-1)?.type).toBe('end');
    expect(events.some(({ type }) => type === 'model')).toBe(false);
  },
  LONG,
);
