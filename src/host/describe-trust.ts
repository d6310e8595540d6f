import { relative } from 'node:path';
import type { RuleEntry, View } from '../policy/index.ts';
import { sha256 } from '../tools/index.ts';
import type { AgentFile } from './agents/agent-file.ts';
import type { BridleFile } from './bridle-json.ts';
import type { ForeignRules } from './claude-settings.ts';
import type { ConfigFile } from './config-file.ts';
import type { HookEntry } from './hooks/hook-entry.ts';
import { type HttpEntry, hostOf, isOpenHttp } from './http-entry.ts';
import type { McpEntry, McpFile, StdioEntry } from './mcp-json.ts';
import type { NamedFile } from './named-files.ts';
import { unpinnedPackage } from './package-pins.ts';
import { viewLines } from './read-views.ts';
import { variablesUsed } from './server-entry.ts';
import type { TrustRecord } from './trust-store.ts';
import { shellLine, visibleText } from './visible-text.ts';

/** One thing that a project would do or loosen once it is trusted. */
export interface TrustItem {
  readonly kind: 'server' | 'program' | 'allow' | 'preview' | 'agent' | 'hook' | 'view';
  /** Unique within the project, e.g. `server fs`. */
  readonly name: string;
  readonly hash: string;
  /** What to show: plain text without unseen characters; nothing is shortened. */
  readonly lines: readonly string[];
  /** Against the last approval of this folder. */
  readonly state: 'first' | 'new' | 'changed' | 'same';
}

export interface TrustRequest {
  /** The project folder's real path. */
  readonly root: string;
  readonly items: readonly TrustItem[];
  /** Items of the last approval that are gone. */
  readonly gone: readonly string[];
  /** What the project says and what has no effect whatever the answer is, or holds already; plain text. */
  readonly notes: readonly string[];
  /** What to remember when the answer is yes. */
  readonly record: Omit<TrustRecord, 'at'>;
  /**
   * Whether the last approval covers all of this, file by file and item by item. Agents don't count unless one of the
   * project's is asked for: until somebody names it, a file that describes one does nothing.
   */
  readonly covered: boolean;
}

/** Variables that decide which code a program loads or whom it talks to, so their values are part of the command. */
const LOADS_CODE = new RegExp(
  `^(${[
    'PATH|HOME|XDG_.*|IFS|ENV|BASH_.*|ZDOTDIR|PROMPT_COMMAND|SHELL|EDITOR|VISUAL|.*PAGER',
    'LD_.*|DYLD_.*|GCONV_PATH|OPENSSL_.*|SSL_CERT_.*|CURL_.*|KUBECONFIG|AWS_CONFIG_FILE|AWS_ENDPOINT_URL.*',
    'NODE_.*|TS_NODE_.*|TSX_.*|ELECTRON_.*|BUN_.*|DENO_.*|NPM_CONFIG_.*|YARN_.*|COREPACK_.*',
    'PYTHON.*|PIP_.*|UV_.*|CONDA_.*|RUBY.*|GEM_.*|BUNDLE_.*|PERL5.*|PHPRC|PHP_INI_SCAN_DIR|LUA_.*',
    'CLASSPATH|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_.*|GRADLE_.*|GO[A-Z_]*|CARGO_.*|RUST.*|DOTNET_.*|CORECLR_.*',
    'GIT_.*|SSH_.*|DOCKER_.*|.*_BASE_URL|.*_PROXY',
  ].join('|')})$`,
  'i',
);
/** Of those families too: a credential loads nothing, and isn't to stand on a screen or in a log. */
const CREDENTIAL = /TOKEN|SECRET|PASSWORD|_KEY$/i;

/**
 * What would be trusted: each server's command whole, the variables it is given and takes, each allow rule, each
 * preview, each agent file to its last line.
 *
 * @param known the last approval of this folder, if any
 * @param programs files of the project that servers' commands run or read
 * @param agents those of the project, and whether one of them is about to be used
 * @param ignored what the project says elsewhere and what is never done
 */
export function describeTrust(
  root: string,
  files: { readonly mcp?: ConfigFile | undefined; readonly bridle?: ConfigFile | undefined },
  read: {
    readonly mcp?: McpFile | undefined;
    readonly bridle?: BridleFile | undefined;
    /** Rules of other programs' settings in the project. */
    readonly foreign?: readonly ForeignRules[];
    /** Commands that the project wants run at events. */
    readonly hooks?: readonly HookEntry[];
  },
  known: TrustRecord | undefined,
  programs: readonly NamedFile[] = [],
  agents: { readonly files: readonly AgentFile[]; readonly isAsked: boolean } = { files: [], isAsked: false },
  ignored: readonly string[] = [],
): TrustRequest {
  const drafts = [
    ...(read.mcp?.entries ?? []).flatMap(serverItem),
    ...programs.map(programItem),
    ...(read.bridle
      ? [...allowItems(read.bridle), ...previewItems(read.bridle), ...read.bridle.views.map(viewItem)]
      : []),
    ...(read.foreign ?? []).flatMap(allowItems),
    ...(read.hooks ?? []).map(hookItem),
    ...agents.files.map((agent) => agentItem(agent, root)),
  ];
  const items = drafts.map((draft) => ({ ...draft, state: stateOf(draft, known) }));
  const hashes = new Map<string, string>();
  if (files.mcp) hashes.set('.mcp.json', files.mcp.hash);
  if (files.bridle) hashes.set('bridle.json', files.bridle.hash);
  for (const { file, hash } of read.foreign ?? []) hashes.set(relative(root, file), hash);
  const names = new Set(items.map(({ name }) => name));
  const sameFiles =
    known?.files.size === hashes.size && [...hashes].every(([name, hash]) => known.files.get(name) === hash);
  const needed = items.filter(({ kind }) => kind !== 'agent' || agents.isAsked);
  return {
    root,
    items,
    notes: [...notesOf([...(read.bridle ? [read.bridle] : []), ...(read.foreign ?? [])], read.bridle), ...ignored],
    gone: [...(known?.items.keys() ?? [])].filter((name) => !names.has(name)),
    record: { path: root, files: hashes, items: new Map(items.map(({ name, hash }) => [name, hash])) },
    covered: needed.length === 0 || (sameFiles && needed.every(({ state }) => state === 'same')),
  };
}

type Draft = Omit<TrustItem, 'state'>;

function stateOf({ name, hash }: Draft, known: TrustRecord | undefined): TrustItem['state'] {
  if (!known) return 'first';
  const before = known.items.get(name);
  if (before === undefined) return 'new';
  return before === hash ? 'same' : 'changed';
}

function serverItem(entry: McpEntry): readonly Draft[] {
  const name = visibleText(`server ${entry.key}`);
  if (entry.kind === 'stdio') return [{ kind: 'server', name, hash: entry.hash, lines: stdioLines(entry) }];
  if (entry.kind === 'http') return [{ kind: 'server', name, hash: entry.hash, lines: httpLines(entry) }];
  return [];
}

function httpLines(entry: HttpEntry): readonly string[] {
  const old = entry.sse ? ' (over the old HTTP+SSE transport)' : '';
  const lines = [`server ${shellLine([entry.key])} is reached at${old}:`, `  ${visibleText(entry.url)}`];
  const host = visibleText(hostOf(entry.url));
  // Their values may be secrets; which variables are in them is said below.
  if (entry.headers.size > 0) lines.push(`  sends it the headers ${visibleText([...entry.headers.keys()].join(', '))}`);
  if (entry.headersHelper !== undefined)
    lines.push(`  runs in a shell for more headers: ${visibleText(entry.headersHelper)}`);
  const takes = variablesUsed(entry).filter((name) => name !== 'CLAUDE_PROJECT_DIR');
  if (takes.length > 0) lines.push(`  takes from your environment and sends to ${host}: ${takes.join(', ')}`);
  if (isOpenHttp(entry.url)) lines.push('  by http: what goes there can be read on the way');
  if (entry.trustAnnotations) lines.push('  is taken at its word about which of its tools only read');
  return lines;
}

function programItem({ path, hash, servers }: NamedFile): Draft {
  const of = servers.map((key) => shellLine([key])).join(', ');
  const lines = [`file ${shellLine([path])} of this folder, which the command of ${of} runs or reads`];
  return { kind: 'program', name: visibleText(`file ${path}`), hash, lines };
}

/** The name under which an agent file of the project is trusted. */
export function agentItemName({ source }: Pick<AgentFile, 'source'>, root: string): string {
  return visibleText(`agent file ${relative(root, source.file)}`);
}

function agentItem(agent: AgentFile, root: string): Draft {
  const { name, hash, tools, model, text } = agent;
  const uses =
    tools.kind === 'named' ? tools.patterns.join(', ') : tools.kind === 'inherit' ? 'all that you have' : 'none';
  const lines = [
    `agent ${shellLine([name])}, when you ask for it, is told by ${shellLine([relative(root, agent.source.file)])}:`,
    ...text
      .trimEnd()
      .split(/\r?\n/)
      .map((line) => `  | ${visibleText(line)}`),
    visibleText(`  its tools: ${uses}`),
    ...(model === undefined ? [] : [visibleText(`  its model: ${model}`)]),
  ];
  return { kind: 'agent', name: agentItemName(agent, root), hash, lines };
}

function stdioLines(entry: StdioEntry): readonly string[] {
  const lines = [`server ${shellLine([entry.key])} runs:`, `  ${shellLine([entry.command, ...entry.args])}`];
  if (entry.cwd !== undefined) lines.push(`  in the folder ${shellLine([entry.cwd])}`);
  const set = [...entry.env].map(([name, value]) => (isShown(name) ? `${name}=${shellLine([value])}` : name));
  if (set.length > 0) lines.push(`  sets ${visibleText(set.join(', '))}`);
  const takes = variablesUsed(entry).filter((name) => name !== 'CLAUDE_PROJECT_DIR');
  if (takes.length > 0) lines.push(`  takes from your environment: ${takes.join(', ')}`);
  if (entry.trustAnnotations) lines.push('  is taken at its word about which of its tools only read');
  const open = unpinnedPackage(entry.command, entry.args);
  // What is agreed to then is any later version, too.
  if (open) lines.push(visibleText(`  runs whatever version of ${open.name} is newest each time`));
  return lines;
}

function isShown(variable: string): boolean {
  return LOADS_CODE.test(variable) && !CREDENTIAL.test(variable);
}

function allowItems({ permissions }: Pick<BridleFile, 'permissions'>): readonly Draft[] {
  return (permissions.allow ?? []).map((rule) => {
    const text = visibleText(textOfRule(rule));
    return {
      kind: 'allow' as const,
      name: `allow ${text}`,
      hash: sha256(JSON.stringify(rule)),
      lines: [`lets run without a question: ${text}`],
    };
  });
}

/** A command that the project wants to be run at an event: shown whole. */
function hookItem(entry: HookEntry): Draft {
  const { event, matcher, hash } = entry;
  const which = matcher === '' || matcher === '*' ? '' : ` that match ${shellLine([matcher])}`;
  const lines =
    'command' in entry
      ? [
          visibleText(`at each ${event}${which} this is run in a shell, and may block it:`),
          ...entry.command.split(/\r?\n/).map((line) => `  ${visibleText(line)}`),
        ]
      : [visibleText(`a hook that can't be run keeps each ${event}${which} from happening: ${entry.problem}`)];
  return { kind: 'hook', name: visibleText(`hook ${event} ${hash.slice(0, 12)}`), hash, lines };
}

/** A view only takes away, but it says in its own words what a tool does. */
function viewItem(view: View): Draft {
  const name = visibleText(`view ${view.server ?? ''} ${view.name}`);
  return { kind: 'view', name, hash: view.hash, lines: viewLines(view).map((line) => visibleText(line)) };
}

function previewItems({ previews }: BridleFile): readonly Draft[] {
  return previews.map(({ rule, plan, hash }) => {
    const text = visibleText(`before ${rule} is asked about, ${plan.tool} of the same server is called for the facts`);
    return { kind: 'preview' as const, name: visibleText(`preview ${rule}`), hash, lines: [text] };
  });
}

/** Rules that only tighten hold without anybody's word, and a mode is the person's alone. */
function notesOf(
  files: readonly Pick<BridleFile, 'permissions'>[],
  bridle: Pick<BridleFile, 'warnings'> | undefined,
): readonly string[] {
  const rules = (kind: 'ask' | 'deny') => files.flatMap(({ permissions }) => permissions[kind] ?? []).map(textOfRule);
  const line = (what: string, texts: readonly string[]) =>
    texts.length === 0 ? [] : [visibleText(`${what}: ${texts.join(', ')}`)];
  return [
    ...line('asked about already', rules('ask')),
    ...line('denied already', rules('deny')),
    ...(bridle?.warnings ?? []).flatMap(({ code }) => (code === 'mode_in_project' ? ['its mode is not taken'] : [])),
  ];
}

function textOfRule(rule: RuleEntry): string {
  return typeof rule === 'string' ? rule : JSON.stringify(rule);
}
