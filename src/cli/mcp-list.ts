import type { JsonObject, Reason } from '../contracts/index.ts';
import { type ListedServer, loadProject, type Project, type ServerEntry } from '../host/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { type Checked, checkServer } from './check-server.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { columns } from './help.ts';
import { interruptible } from './interrupt.ts';
import { shownEntry } from './mcp-entry.ts';
import { nearest } from './nearest.ts';
import { flag, numberOption } from './parse.ts';
import { printJson } from './print-json.ts';
import { type Style, styleFor } from './style.ts';
import { reasonLine, warn } from './workspace.ts';

const CHECK_SECONDS = 10;

/** `bridle mcp list`. */
export async function list(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  return withServers(parsed, io, undefined, ({ project, rows }) => {
    if (rows.length === 0) {
      io.stdout.write(
        "No servers. 'bridle mcp add' adds one, 'bridle mcp import' takes over those of other programs.\n",
      );
    }
    const style = styleFor(io.stdout, io.env);
    const used = rows.filter(({ server }) => server.state !== 'shadowed');
    const table = used.map(
      (row) => [`${printable(row.server.key)} (${row.server.scope})`, stateLine(row, style)] as const,
    );
    if (table.length > 0) io.stdout.write(`${columns(table).join('\n')}\n`);
    warn(
      used.flatMap(({ server }) => server.advice),
      io,
    );
    if (project.listed.some(({ state }) => state === 'untrusted')) {
      io.stderr.write('This project is not trusted yet: run bridle in a terminal to look at it and agree.\n');
    }
  });
}

/** `bridle mcp get <name>`. */
export async function get(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const key = parsed.positionals[1] ?? '';
  return withServers(parsed, io, key, ({ rows }) => {
    const style = styleFor(io.stdout, io.env);
    for (const row of rows) io.stdout.write(`${details(row, style).join('\n')}\n`);
  });
}

interface Row {
  readonly server: ListedServer;
  /** Undefined: not started, because it isn't to be, or because nobody wanted it checked. */
  readonly checked?: Checked;
}

/** @param key only the server of this name, in every scope; undefined for all */
async function withServers(
  parsed: ParsedCommand,
  io: CommandIo,
  key: string | undefined,
  show: (found: { readonly project: Project; readonly rows: readonly Row[] }) => void,
): Promise<number> {
  const seconds = numberOption(parsed, 'max-seconds', 'number') ?? CHECK_SECONDS;
  return interruptible(async (signal) => {
    // Looking asks nothing: what isn't trusted is shown, and not started.
    const project = await loadProject({ cwd: io.cwd, env: io.env, untrusted: 'leave', signal });
    const servers = project.listed.filter((server) => key === undefined || server.key === key).map(withoutUrlSecrets);
    if (key !== undefined && servers.length === 0) throw unknownServer(key, project);
    const started = new Map<string, Checked>();
    if (!flag(parsed, 'no-check')) {
      const entries = project.servers.filter(({ key }) =>
        servers.some((one) => one.key === key && one.state === 'ready'),
      );
      const check = async (entry: ServerEntry) => {
        started.set(entry.key, await checkServer(entry, project.root, seconds, signal));
      };
      await Promise.all(entries.map(check));
      signal.throwIfAborted();
    }
    const rows = servers.map((server): Row => {
      const checked = server.state === 'ready' ? started.get(server.key) : undefined;
      return { server, ...(checked && { checked }) };
    });
    if (flag(parsed, 'json'))
      printJson(io, { root: project.root, trusted: project.trusted, servers: rows.map(json) }, 2);
    else show({ project, rows });
    if (!flag(parsed, 'json')) warn(otherWarnings(project, servers), io);
    return 0;
  }, io);
}

function unknownServer(key: string, { listed }: Project): BridleError {
  const near = nearest(
    key,
    listed.map((server) => server.key),
  );
  return new BridleError('server_unknown', `There is no server '${printable(key)}'.`, {
    hint: near ? `Did you mean '${printable(near)}'?` : "'bridle mcp list' shows what there is.",
  });
}

/** A reason may name the address as it stands in the file. */
function withoutUrlSecrets(server: ListedServer): ListedServer {
  const { raw } = server;
  const { url } = typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? (raw as JsonObject) : {};
  if (typeof url !== 'string' || url === '') return server;
  const shown = shownEntry(raw).url ?? '';
  return { ...server, reasons: server.reasons.map((one) => ({ ...one, text: one.text.replaceAll(url, shown) })) };
}

/** What isn't said with a server itself. */
function otherWarnings({ warnings }: Project, shown: readonly ListedServer[]): readonly Reason[] {
  const said = new Set(shown.flatMap(({ advice, reasons }) => [...advice, ...reasons]).map(({ text }) => text));
  return warnings.filter(
    ({ text, source }) => !said.has(text) && shown.some((one) => one.source.file === source?.file),
  );
}

function json({ server, checked }: Row) {
  const { key, scope, source, state, reasons, advice, raw } = server;
  return { key, scope, state, ...shownEntry(raw), source, reasons, advice, ...(checked && { check: checked }) };
}

/** A row of the table; the last lines that a server said before it failed are for `get`. */
function stateLine({ server, checked: whole }: Row, style: Style): string {
  const { runs, url } = shownEntry(server.raw);
  const checked = whole?.ok === false ? { ...whole, text: firstLine(whole.text) } : whole;
  return `${stateOf(server, checked, style)}  ${style.dim(printable(runs ?? url ?? ''))}`.trimEnd();
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function stateOf({ state, reasons }: ListedServer, checked: Checked | undefined, style: Style): string {
  if (checked?.ok) return style.green('✓ connected');
  if (checked) return style.red(`✗ ${printable(checked.code)}: ${printable(checked.text)}`);
  switch (state) {
    case 'ready':
      return 'not checked';
    case 'disabled':
      return style.dim('disabled');
    case 'untrusted':
      return style.yellow('not trusted yet');
    case 'shadowed':
      return style.dim('not used');
    case 'refused':
      return style.red(`✗ ${reasons.map(({ text }) => printable(text)).join(' ')}`);
  }
}

function details({ server, checked }: Row, style: Style): readonly string[] {
  const { runs, url, cwd, env, headers } = shownEntry(server.raw);
  const rows: (readonly [string, string])[] = [
    ['state', stateOf(server, checked, style)],
    ['file', printable(`${server.source.file}${server.source.line === undefined ? '' : `:${server.source.line}`}`)],
  ];
  if (runs !== undefined) rows.push(['runs', printable(runs)]);
  if (url !== undefined) rows.push(['url', printable(url)]);
  if (cwd !== undefined) rows.push(['folder', printable(cwd)]);
  if (env) rows.push(['sets', printable(env.join(', '))]);
  if (headers) rows.push(['headers', printable(headers.join(', '))]);
  if (checked?.ok && checked.server !== undefined) rows.push(['server', printable(checked.server)]);
  for (const reason of server.reasons) rows.push(['reason', reasonLine(reason)]);
  for (const reason of server.advice) rows.push(['advice', reasonLine(reason)]);
  return [`${style.bold(printable(server.key))} (${server.scope})`, ...columns(rows)];
}
