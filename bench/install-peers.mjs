import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Installs what is compared with, at exact versions, into `bench/peers/node_modules`, unless it is there. Ends the process
 * with 2 where that can't be done.
 *
 * @param {string} name one of the packages that are needed
 */
export function installPeers(name) {
  const cwd = fileURLToPath(new URL('peers', import.meta.url));
  if (existsSync(`${cwd}/node_modules/${name}`)) return;
  console.error('Installing what is compared with into bench/peers/node_modules, once.');
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel', 'error'];
  const { status } = spawnSync('npm', words, { cwd, stdio: ['ignore', 2, 2] });
  if (status === 0) return;
  console.error('It could not be installed: this needs the network the first time.');
  process.exit(2);
}
