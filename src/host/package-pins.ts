/** A package that a runner would fetch without a fixed version. */
export interface OpenPackage {
  readonly tool: string;
  readonly name: string;
  /** How it would be written with a version. */
  readonly pinned: string;
}

/** Options of the runners that take the next word as their value. */
const TAKES_VALUE =
  /^(-p|--package|--from|--with|--python|--index|--index-url|--extra-index-url|--registry|--cache|--directory|--project|--env-file|-c|--call|-w|--workspace)$/;
const NODE_RUNNERS: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx']);
const PYTHON_RUNNERS: ReadonlySet<string> = new Set(['uvx', 'pipx']);
/** `pnpm dlx`, `npm exec`, `uv tool run` and the like. */
const TWO_WORDS: ReadonlyMap<string, RegExp> = new Map([
  ['npm', /^(exec|x)$/],
  ['pnpm', /^(dlx|exec)$/],
  ['yarn', /^dlx$/],
  ['bun', /^x$/],
  ['pipx', /^run$/],
]);

/**
 * The package that `npx`, `uvx` or one of their like would fetch in its newest version.
 *
 * @returns undefined for other commands, for pinned packages, and for paths
 */
export function unpinnedPackage(command: string, args: readonly string[]): OpenPackage | undefined {
  const found = fetchedPackage(command, args);
  if (!found || isPinned(found.spec, found.python)) return undefined;
  const name = bare(found.spec);
  return { tool: found.tool, name, pinned: found.python ? `${name}==1.2.3` : `${name}@1.2.3` };
}

/** The package that such a command fetches in exactly one version, as it is written there; undefined where there is none. */
export function pinnedPackage(command: string, args: readonly string[]): string | undefined {
  const found = fetchedPackage(command, args);
  return found && isPinned(found.spec, found.python) ? found.spec : undefined;
}

/** A package as a runner is told to fetch it. */
interface FetchedPackage {
  readonly tool: string;
  readonly spec: string;
  readonly python: boolean;
}

function fetchedPackage(command: string, args: readonly string[]): FetchedPackage | undefined {
  const program = nameOf(command);
  // The shell of Windows stands before the runner in many files.
  if (program === 'cmd' && /^\/c$/i.test(args[0] ?? '')) return fetchedPackage(args[1] ?? '', args.slice(2));
  const second = TWO_WORDS.get(program);
  if (second?.test(args[0] ?? '')) return packageOf(`${program} ${args[0]}`, args.slice(1), program === 'pipx');
  if (program === 'uv' && args[0] === 'tool' && args[1] === 'run') return packageOf('uv tool run', args.slice(2), true);
  if (NODE_RUNNERS.has(program)) return packageOf(program, args, false);
  return PYTHON_RUNNERS.has(program) && !second ? packageOf(program, args, true) : undefined;
}

function nameOf(command: string): string {
  return command
    .replace(/^.*[\\/]/, '')
    .replace(/\.(exe|cmd|ps1)$/i, '')
    .toLowerCase();
}

function packageOf(tool: string, args: readonly string[], python: boolean): FetchedPackage | undefined {
  let name: string | undefined;
  for (let at = 0; at < args.length && name === undefined; at++) {
    const arg = args[at] ?? '';
    const [, named] = /^--(?:package|from)=(.+)$/.exec(arg) ?? [];
    if (named !== undefined) name = named;
    else if (/^(-p|--package|--from)$/.test(arg)) name = args[at + 1];
    else if (TAKES_VALUE.test(arg)) at += 1;
    else if (!arg.startsWith('-')) name = arg;
  }
  if (name === undefined || name === '' || name.includes('${')) return undefined;
  // Paths are files of this machine.
  if (/^(\.{0,2}[\\/]|~|file:|[A-Za-z]:[\\/])/.test(name)) return undefined;
  return { tool, spec: name, python };
}

function isPinned(name: string, python: boolean): boolean {
  if (/^(git\+|https?:|git@|github:)/.test(name) || /^[\w-]+\/[\w.-]+$/.test(name))
    return /[#@][0-9a-f]{40}$/.test(name);
  const version = python ? /(?:==|@)([^@=]+)$/.exec(name)?.[1] : /^(?:@[^/]+\/)?[^@]+@(.+)$/.exec(name)?.[1];
  return version !== undefined && /^[v=]?\d+\.\d+\.\d+([-+.][\w.-]+)?$|^\d+(\.\d+)+[\w.]*$/.test(version.trim());
}

/** The name without its version. */
function bare(name: string): string {
  if (/^(git\+|https?:|git@|github:)/.test(name)) return name.replace(/#.*$/, '');
  return name.replace(/^((?:@[^/]+\/)?[^@=<>~!]+).*$/, '$1');
}
