/**
 * Makes a fresh clone ready: installs the packages of the lock file and builds `dist`, each only when missing or out
 * of date, and says so. Nothing is compiled natively: install scripts are not run.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, 'node_modules', '.cache', 'bridle');

export function say(text) {
  process.stderr.write(`bridle: ${text}\n`);
}

/** Runs a command with our output; ends this process with its status when it fails. */
export function run(command, args, options = {}) {
  const done = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (done.error) {
    say(`could not start ${command}: ${done.error.message}`);
    process.exit(1);
  }
  if (done.status !== 0) process.exit(done.status ?? 1);
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    })
    .sort();
}

function stamped(name) {
  const file = join(cache, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function stamp(name, value) {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, name), value);
}

export function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  say(`Node ${process.versions.node} is too old: Bridle needs 20.19 or later (22 or 24 recommended).`);
  process.exit(1);
}

export function ensureInstalled() {
  const want = hashOf([join(root, 'package-lock.json')]);
  if (stamped('installed') === want && existsSync(join(root, 'node_modules', 'typescript'))) return;
  say('installing packages (npm ci); this happens once and after the lock file changes');
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  stamp('installed', want);
}

export function ensureBuilt() {
  const inputs = ['src', 'examples'].map((folder) => join(root, folder)).filter((folder) => existsSync(folder));
  const configs = readdirSync(root).filter((name) => /^tsconfig.*\.json$|^package-lock\.json$/.test(name));
  const want = hashOf([...inputs.flatMap(filesBelow), ...configs.map((name) => join(root, name))]);
  if (stamped('built') === want && existsSync(join(root, 'dist', 'cli', 'index.js'))) return;
  say('building dist (tsc); this happens once and after the sources change');
  build();
  stamp('built', want);
}

export function build() {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  for (const config of ['tsconfig.build.json', 'tsconfig.examples.json']) {
    if (statSync(join(root, config), { throwIfNoEntry: false })) run(process.execPath, [tsc, '-p', config]);
  }
}
