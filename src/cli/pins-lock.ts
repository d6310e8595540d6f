import { join } from 'node:path';
import { createCatalog } from '../catalog/index.ts';
import type { Json, ToolDefinition } from '../contracts/index.ts';
import { MAIN_AGENT, pinnedPackage, rewriteFile } from '../host/index.ts';
import { allowAll, lockDifferences, type PinLock, pinLock, type ServerToLock } from '../policy/index.ts';
import { BridleError, isBridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { counted } from './counted.ts';
import { EXIT } from './exit-code.ts';
import { interruptible } from './interrupt.ts';
import { flag } from './parse.ts';
import { printJson } from './print-json.ts';
import { openWorkspace, type Workspace } from './workspace.ts';
import { isNamed, isOfProject, LOCK_FILE, pinRecords, portableFingerprint, readLock } from './workspace-pins.ts';
import type { WorkspaceServer } from './workspace-server.ts';

/** What is here now. */
interface Found {
  readonly root: string;
  readonly tools: readonly ToolDefinition[];
  readonly now: PinLock;
  /** Of servers that have not told their tools, by key. */
  readonly missing: ReadonlyMap<string, string>;
  /** Those that the lock is about. */
  readonly servers: readonly WorkspaceServer[];
  /** Keys of the person's own servers, of which a project's lock says nothing. */
  readonly leftOut: readonly string[];
  readonly workspace: Workspace;
}

/** `bridle pins check`. */
export async function check(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  return withServers(parsed, io, async ({ root, now, missing, leftOut }) => {
    const locked = await readLock(root);
    if (!locked) {
      throw new BridleError('config_missing', `There is no ${LOCK_FILE} in ${root}.`, {
        hint: "Write it with 'bridle pins lock'.",
      });
    }
    const differences = lockDifferences(locked, now).filter(({ server }) => server === null || !missing.has(server));
    const problems = [...missing].map(([server, text]) => ({ server, tool: null, what: 'missing', text }));
    const all = [...differences, ...problems];
    if (flag(parsed, 'json')) {
      printJson(io, { differences: all, leftOut }, 2);
    } else {
      if (all.length === 0) io.stdout.write(`${sizeOf(now)} as locked.\n`);
      for (const { text } of all) io.stdout.write(`${printable(text)}\n`);
      tellLeftOut('Not compared', leftOut, io);
    }
    return all.length === 0 ? 0 : EXIT.failed;
  });
}

/** `bridle pins lock`. */
export async function lock(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  return withServers(parsed, io, async (found) => {
    const { root, now, missing, leftOut, workspace } = found;
    const [problem] = missing.values();
    if (problem !== undefined) {
      throw new BridleError('servers_not_ready', printable(problem), {
        hint: 'Nothing was written. Mend the server, or disable it.',
      });
    }
    if (workspace.project.pins.firstUse) await refuseHeldBack(found, io);
    const before = await readLock(root).catch((error) => {
      // What can't be read is written anew.
      if (isBridleError(error)) return undefined;
      throw error;
    });
    const text = `${JSON.stringify(now, null, 2)}\n`;
    await rewriteFile(join(root, LOCK_FILE), text, { access: 'shared', within: root });
    const differences = before ? lockDifferences(before, now) : [];
    if (flag(parsed, 'json')) {
      printJson(io, { file: join(root, LOCK_FILE), differences, leftOut }, 2);
      return 0;
    }
    for (const { text } of differences) io.stdout.write(`${printable(text)}\n`);
    io.stdout.write(`Wrote ${LOCK_FILE}: ${sizeOf(now)}.\n`);
    tellLeftOut('Not in it', leftOut, io);
    return 0;
  });
}

function tellLeftOut(what: string, leftOut: readonly string[], io: CommandIo): void {
  if (leftOut.length > 0) io.stdout.write(`${what}, because they are your own: ${printable(leftOut.join(', '))}.\n`);
}

async function withServers(
  parsed: ParsedCommand,
  io: CommandIo,
  use: (found: Found) => Promise<number>,
): Promise<number> {
  return interruptible(async (signal) => {
    const workspace = await openWorkspace(parsed, io, signal, { pinning: 'none' });
    try {
      const { pins, listed } = workspace.project;
      const isAlone = flag(parsed, 'project');
      const isMeant = ({ key }: WorkspaceServer) =>
        isOfProject(key, listed) || (!isAlone && (pins.locked === 'all' || isNamed(key, listed)));
      const servers = workspace.servers.filter(isMeant);
      const leftOut = workspace.servers.filter((server) => !isMeant(server)).map(({ key }) => key);
      const catalog = createCatalog({ sources: servers.map(({ source }) => source), policy: allowAll() });
      await catalog.refresh(signal);
      signal.throwIfAborted();
      const tools = catalog.list({ agent: MAIN_AGENT, via: 'terminal' });
      const missing = new Map<string, string>();
      for (const { server, state, problem } of catalog.readiness()) {
        const key = server?.key ?? '';
        if (state !== 'ready') missing.set(key, problem?.text ?? `Server "${key}" has not told its tools.`);
      }
      catalog.close();
      const now = pinLock(
        tools,
        servers.map((server) => toLock(server, workspace)),
      );
      return await use({ root: workspace.project.root, tools, now, missing, servers, leftOut, workspace });
    } finally {
      await workspace.close();
    }
  }, io);
}

function toLock({ key, connection, said }: WorkspaceServer, { project }: Workspace): ServerToLock {
  const { server } = connection;
  const raw = project.listed.find((one) => one.key === key && one.state === 'ready')?.raw;
  const fetched = packageIn(raw);
  const { instructions } = said();
  return {
    server,
    fingerprint: portableFingerprint(server, project.listed),
    ...(fetched !== undefined && { package: fetched }),
    ...(server.trustAnnotations && instructions !== undefined && { instructions }),
  };
}

function packageIn(raw: Json | undefined): string | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined;
  const { command, args = [] } = raw;
  if (typeof command !== 'string' || !Array.isArray(args)) return undefined;
  const words = args.filter((arg) => typeof arg === 'string');
  return words.length === args.length ? pinnedPackage(command, words) : undefined;
}

/** A lock is a word for everybody, so it isn't given for what its own author hasn't looked at. */
async function refuseHeldBack({ tools, servers, workspace }: Found, io: CommandIo): Promise<void> {
  const { known, close } = await pinRecords(io, workspace.project.root);
  const held: string[] = [];
  try {
    for (const tool of tools) if (known.verdict(tool)) held.push(tool.ref.name);
    for (const { connection, said } of servers) {
      const { server } = connection;
      if (server.trustAnnotations && known.instructions(server, said().instructions)) held.push(`mcp__${server.key}`);
    }
  } finally {
    await close();
  }
  if (held.length === 0) return;
  throw new BridleError('pin_unreviewed', `What is held back can't be locked: ${printable(held.join(', '))}.`, {
    hint: "'bridle pins show NAME' tells what changed, 'bridle pins accept NAME' agrees to it. Nothing was written.",
  });
}

function sizeOf({ servers }: PinLock): string {
  const tools = Object.values(servers).reduce((sum, server) => sum + Object.keys(server.tools).length, 0);
  return `${counted(Object.keys(servers).length, 'server')}, ${counted(tools, 'tool')}`;
}
