import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, statSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { expand } from './expand.ts';
import type { McpEntry, StdioEntry } from './mcp-json.ts';

/** A file of the project that a server's command runs or reads, so that it is part of what is trusted. */
export interface NamedFile {
  /** Relative to the project's folder where it lies in it, else absolute. */
  readonly path: string;
  /** SHA-256 (hex) over what it holds and where it really lies, so that a turned symbolic link is a change too. */
  readonly hash: string;
  /** Keys of the servers whose commands do. */
  readonly servers: readonly string[];
}

/** A larger file never counts as known: hashing it would take long, and a part of it would not be it. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Words of all commands, times the folders in which each may be: thousands are no real configuration. */
const MAX_LOOKS = 50_000;
const TOO_MANY = '(any of more words than can be looked through)';
/** What an interpreter adds to a name, or runs of a folder. */
const SUFFIXES = ['', '.js', '.mjs', '.cjs', '.ts', '.py', '.rb', '.sh', '.jar'];
const IN_FOLDERS = ['package.json', 'index.js', 'index.mjs', 'index.cjs', 'index.ts', '__main__.py'];
const INTERPRETER = /^(node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|pypy[\d.]*|ruby|perl|php|java)$/;
const NODE_RUNNER = /^(npm|npx|pnpm|pnpx|yarn|bun|bunx|corepack)$/;
/** Files that a program reads of the folder it runs in, without being told. */
const UNTOLD: readonly (readonly [program: RegExp, names: readonly string[]])[] = [
  [/^(npm|npx|pnpm|pnpx|yarn|corepack)$/, ['.npmrc', '.yarnrc.yml', '.pnpmfile.cjs', 'pnpm-workspace.yaml']],
  [/^(npm|pnpm|yarn|bun)$/, ['package.json', 'bunfig.toml']],
  [/^(bun|bunx)$/, ['bunfig.toml']],
  [/^(uv|uvx)$/, ['uv.toml', 'pyproject.toml']],
  [/^(make|gmake)$/, ['GNUmakefile', 'makefile', 'Makefile']],
  [/^just$/, ['justfile', 'Justfile', '.justfile']],
  [/^(compose|docker-compose)$/, ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml']],
  [/^cargo$/, ['Cargo.toml', '.cargo/config.toml']],
  [/^deno$/, ['deno.json', 'deno.jsonc']],
];

/** The table `[tool.uv]`, in whichever way TOML lets it be written. */
const UV_SETTINGS = /\buv\b|\\u/i;

/**
 * The files of the project that the commands of servers name: programs, scripts, and whatever else stands in an argument
 * and is a file; and those that known programs read of the folder they run in. What those files load in turn is not
 * looked at.
 *
 * @param root the project's folder: absolute, without symbolic links
 * @param variables what may be expanded, as when the servers are started
 */
export async function namedFiles(
  entries: readonly McpEntry[],
  root: string,
  variables: ReadonlyMap<string, string>,
): Promise<readonly NamedFile[]> {
  const budget = { left: MAX_LOOKS };
  const found = new Map<string, { readonly hash: string; readonly servers: Set<string> }>();
  for (const entry of entries) {
    const command = commandOf(entry);
    if (!command) continue;
    const paths = await candidates(command, root, variables, budget);
    if (paths === undefined)
      found.set(`${TOO_MANY} of ${entry.key}`, { hash: randomUUID(), servers: new Set([entry.key]) });
    for (const path of paths ?? []) {
      const known = found.get(path);
      if (known) {
        known.servers.add(entry.key);
        continue;
      }
      const hash = await projectFileHash(path, root);
      if (hash !== undefined) found.set(path, { hash, servers: new Set([entry.key]) });
    }
  }
  return [...found].map(([path, { hash, servers }]) => ({
    path: isInside(path, root) ? relative(root, path) : path,
    hash,
    servers: [...servers],
  }));
}

type Command = Pick<StdioEntry, 'command' | 'args' | 'env' | 'cwd'>;

/** What an entry has run: its program, or the shell for the command that makes its headers. */
function commandOf(entry: McpEntry): Command | undefined {
  if (entry.kind === 'stdio') return entry;
  if (entry.kind !== 'http' || entry.headersHelper === undefined) return undefined;
  return { command: '/bin/sh', args: ['-c', entry.headersHelper], env: new Map() };
}

/** Absolute paths that the entry's command may mean; most of them are no files. Undefined: too many to look at. */
async function candidates(
  entry: Command,
  root: string,
  variables: ReadonlyMap<string, string>,
  budget: { left: number },
): Promise<ReadonlySet<string> | undefined> {
  if (entry.args.length > budget.left) return undefined;
  const text = (written: string) => expand(written, variables, { modelKeys: true }).text;
  const command = text(entry.command);
  const args = entry.args.map(text);
  const cwd = resolve(root, text(entry.cwd ?? '.'));
  const env = [...entry.env].map(([name, value]) => [name, text(value)] as const);
  // Some programs are told their folder by an argument.
  const folders = [...new Set([cwd, ...foldersOf(args, cwd)])];
  // And some look for their files in the folders above, too.
  const above = [...new Set(folders.flatMap((folder) => upwards(folder, root)))];
  const words = new Set([...args, ...env.map(([, value]) => value)].flatMap(wordsOf));
  // Also what another program starts: `env npx …`, `sh -c "node …"`. Some file systems find NODE, too.
  const programs = [...new Set([command, ...words].map(programName))];
  const runsOne = (names: RegExp) => programs.some((name) => names.test(name));
  const isInterpreted = runsOne(INTERPRETER);
  budget.left -= words.size * folders.length;
  if (budget.left < 0) return undefined;
  const paths = new Set<string>();

  if (command.includes('/')) paths.add(resolve(cwd, command));
  else for (const folder of searchPath(env, variables)) paths.add(resolve(cwd, folder, command));
  for (const word of words) {
    for (const folder of folders) {
      for (const suffix of SUFFIXES) paths.add(resolve(folder, word + suffix));
      if (!isInterpreted) continue;
      for (const name of IN_FOLDERS) paths.add(resolve(folder, word, name));
      // `python -m package.module`
      const module = word.replaceAll('.', '/');
      if (/^[\w.]+$/.test(word))
        for (const end of ['.py', '/__main__.py', '/__init__.py']) paths.add(join(folder, module + end));
    }
  }
  if (runsOne(NODE_RUNNER)) {
    const bins = [...words].map((word) => basename(word.replace(/@[^/@]*$/, '')));
    for (const folder of above) for (const bin of bins) paths.add(join(folder, 'node_modules', '.bin', bin));
  }
  for (const [readers, names] of UNTOLD) {
    if (!runsOne(readers)) continue;
    for (const folder of above) for (const name of names) paths.add(join(folder, name));
  }
  // What isn't run as a part of the project reads only settings there, if there are any.
  const isTool = !programs.includes('uv') || args[0] === 'tool';
  for (const folder of isTool ? above : []) {
    const path = join(folder, 'pyproject.toml');
    if (paths.has(path) && !(await mayHold(path, UV_SETTINGS))) paths.delete(path);
  }
  return paths;
}

function programName(word: string): string {
  return basename(word)
    .toLowerCase()
    .replace(/(-cli)?\.(exe|cmd|js|cjs|mjs)$/, '');
}

/** A folder of the project and those above it, up to the project's own. */
function upwards(folder: string, root: string): readonly string[] {
  if (!isInside(folder, root)) return [folder];
  return [folder, ...upwards(dirname(folder), root)];
}

async function mayHold(path: string, pattern: RegExp): Promise<boolean> {
  return readFile(path, 'utf8').then(
    (content) => pattern.test(content),
    // What can't be read is looked at by whoever hashes it.
    () => true,
  );
}

function foldersOf(args: readonly string[], cwd: string): readonly string[] {
  const paths = args.flatMap((arg) => [arg, arg.replace(/^[^=]*=/, '')]).map((arg) => resolve(cwd, arg));
  return [...new Set(paths)].filter((path) => kindAt(path) === 'folder');
}

/** An argument whole and in parts: `--require=./a.js`, `-r./a.js`, `sh -c "node a.js && b"`, `a:b`. */
function wordsOf(arg: string): readonly string[] {
  const parts = [arg, ...arg.split(/[\s=:,;&|<>()'"`]+/)];
  return parts
    .flatMap((part) => [part, part.replace(/^-{1,2}[A-Za-z]/, '')])
    .filter((part) => /[^./-]/.test(part) || part === '.');
}

function searchPath(
  env: readonly (readonly [name: string, value: string])[],
  variables: ReadonlyMap<string, string>,
): readonly string[] {
  const [, own] = env.find(([name]) => name === 'PATH') ?? [];
  return (own ?? variables.get('PATH') ?? '').split(':').map((folder) => (folder === '' ? '.' : folder));
}

/** Undefined where there is no file, or none of this project. */
async function projectFileHash(path: string, root: string): Promise<string | undefined> {
  if (kindAt(path) !== 'file') return undefined;
  try {
    const real = await realpath(path);
    // Through a link out of the project, and through one into it: either way the project says what is run.
    if (!isInside(path, root) && !isInside(real, root)) return undefined;
    const hash = createHash('sha256').update(`${real}\0`);
    if ((await stat(real)).size > MAX_BYTES) return hash.update(randomUUID()).digest('hex');
    for await (const piece of createReadStream(real)) hash.update(piece as Buffer);
    return hash.digest('hex');
  } catch {
    // What can't be read now may be readable when it is run, so it never counts as known.
    return randomUUID();
  }
}

/** Many names are looked for, and asking for each in its turn of the event loop would take far longer. */
function kindAt(path: string): 'file' | 'folder' | 'other' | undefined {
  try {
    const stats = path.includes('\0') ? undefined : statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other';
  } catch {
    // Such as a file where a folder is expected, or links in a circle.
    return undefined;
  }
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
