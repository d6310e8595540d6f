import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../src/store/index.ts';
import { type Ended, type Person, person, stillAlive } from '../helpers/cli-process.ts';
import { bridle } from '../helpers/terminal.ts';

const BIN = fileURLToPath(new URL('../../bin/bridle.js', import.meta.url));
const PRELOAD = new URL('../fixtures/kill-at-step.mjs', import.meta.url).href;
export const TASK = 'Pay order O-7';
export const TOOL = 'mcp__shop__pay';
/** More than a dead process's claim on an act lasts. */
const LATER_MS = 60_000;

/** What four places say of the one act. */
export interface World {
  /** Lines that the tool wrote. */
  readonly effects: readonly string[];
  readonly approvals: readonly {
    readonly state: string;
    readonly decisions: readonly { readonly answer: string }[];
    readonly used?: { readonly outcome?: { readonly kind: string } };
  }[];
  /** Of the act in the ledger. */
  readonly ledger: readonly string[];
  /** How each call ended that the audit knows of, oldest first. */
  readonly audit: readonly {
    readonly outcome: string;
    readonly executed?: string;
    /** It was given the end of an earlier call. */
    readonly isEarlier: boolean;
  }[];
  readonly verified: { readonly status: number; readonly problems: readonly unknown[]; readonly torn: number };
}

/** A person with a server whose tool writes a line to a file, and with states that can be taken up again. */
export interface Place {
  /** Another state folder, as this one is; without a name an empty one. */
  state(from?: string): Promise<string>;
  /** The command line as a process; with `killAt` it ends itself there, else it is begun a minute later. */
  run(state: string, args: readonly string[], killAt?: string): Promise<Ended>;
  /** The steps that the last process passed. */
  steps(): Promise<readonly string[]>;
  world(state: string): Promise<World>;
  remove(): Promise<void>;
}

export async function newPlace(): Promise<Place> {
  const at = await person();
  const folder = join(at.cwd, '..', 'shop');
  await at.servers({ shop: at.fixture('pays-once.mjs', [folder], { trust: true }) });
  let states = 0;
  const envOf = (state: string) => ({ ...at.env, XDG_STATE_HOME: state });
  return {
    async state(from) {
      states += 1;
      const state = join(folder, '..', `state-${states}`);
      if (from !== undefined) await cp(from, state, { recursive: true });
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder);
      return state;
    },
    async run(state, args, killAt) {
      await rm(join(folder, 'steps'), { force: true });
      await writeFile(join(folder, 'kill'), killAt ?? '');
      const steps = killAt === undefined ? { STEPS_AHEAD_MS: String(LATER_MS) } : { STEPS_KILL: killAt };
      const ended = await started(args, { cwd: at.cwd, env: { ...envOf(state), STEPS_FOLDER: folder, ...steps } });
      // What a server still does after its client's death is done before anybody looks.
      await stillAlive(at);
      return ended;
    },
    steps: () => linesOf(join(folder, 'steps')),
    async world(state) {
      const json = async (...args: string[]) => {
        const { status, stdout } = await bridle([...args, '--json'], { cwd: at.cwd, env: envOf(state) });
        return { status, said: JSON.parse(stdout) };
      };
      const { status, said } = await json('audit', 'verify');
      const rows: readonly AuditedCall[] = (await json('audit', 'list')).said;
      return {
        effects: await linesOf(join(folder, 'effects')),
        approvals: (await json('approvals', 'list', '--all')).said.approvals,
        ledger: await ledgerIn(state),
        audit: rows.map(({ end }) => ({
          outcome: end?.outcome ?? 'unknown',
          ...(end?.executed !== undefined && { executed: end.executed }),
          isEarlier: end?.answeredBy !== undefined,
        })),
        verified: { status, problems: said.problems, torn: Math.max(0, ...said.writers.map(tornOf)) },
      };
    },
    remove: () => at.remove(),
  };
}

interface AuditedCall {
  readonly end?: { readonly outcome: string; readonly executed?: string; readonly answeredBy?: unknown };
}

const tornOf = ({ torn }: { readonly torn: number }) => torn;

function started(args: readonly string[], at: Pick<Person, 'cwd' | 'env'>): Promise<Ended> {
  const child = spawn(process.execPath, ['--import', PRELOAD, BIN, ...args], {
    ...at,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, ...said }));
  });
}

async function linesOf(file: string): Promise<readonly string[]> {
  return existsSync(file) ? (await readFile(file, 'utf8')).trim().split('\n') : [];
}

/** The states of the acts that the ledger remembers, as another process finds them. */
async function ledgerIn(state: string): Promise<readonly string[]> {
  const file = join(state, 'bridle', 'state.db');
  if (!existsSync(file)) return [];
  const store = await openStore({ file });
  try {
    const found: string[] = [];
    const acts = store.table<{ readonly v: 1; readonly state: string }>('idempotency').list('');
    for await (const [, act] of acts) found.push(act.state);
    return found;
  } finally {
    await store.close();
  }
}
