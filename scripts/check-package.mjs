/**
 * Checks what a user would install: packs the package, installs it into an empty folder without optional packages and
 * without running scripts, and holds the result to its budget. Prints each check, then `N passed, N failed`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './ensure.mjs';

const BUDGET_BYTES = 60 * 1000 * 1000;
/** Loaded at first use only: model SDKs, the MCP SDK, schema compilers, regular expression engines, databases. */
const HEAVY = /node_modules\/(@anthropic-ai|@modelcontextprotocol|ajv|re2js|zod|@photostructure)\/|^node:sqlite$/;

const results = [];
function check(name, fault) {
  results.push(fault);
  process.stdout.write(fault ? `✗ ${name}\n    ${fault}\n` : `✓ ${name}\n`);
}

function sh(command, args, cwd) {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
  return { ok: done.status === 0, text: `${done.stdout ?? ''}${done.stderr ?? ''}`.trim(), stdout: done.stdout ?? '' };
}

function* filesBelow(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

const folder = mkdtempSync(join(tmpdir(), 'bridle-package-'));
try {
  const packed = sh('npm', ['pack', '--pack-destination', folder, '--json'], root);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  check('npm pack makes a tarball', tarball ? '' : packed.text);

  writeFileSync(join(folder, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  const install = sh(
    'npm',
    ['install', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund', tarball ?? '.'],
    folder,
  );
  check(
    'it installs into an empty folder without optional packages and without scripts',
    install.ok ? '' : install.text,
  );

  const modules = join(folder, 'node_modules');
  let bytes = 0;
  const scripted = [];
  for (const file of existsSync(modules) ? filesBelow(modules) : []) {
    bytes += lstatSync(file).size;
    if (!file.endsWith('package.json')) continue;
    let manifest = {};
    try {
      manifest = JSON.parse(readFileSync(file, 'utf8'));
    } catch {
      // A fixture inside a package; it is no package of its own.
    }
    const { preinstall, install: installs, postinstall } = manifest.scripts ?? {};
    const native = existsSync(file.replace(/package\.json$/, 'binding.gyp'));
    if (
      /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(file) &&
      (preinstall || installs || postinstall || native)
    ) {
      scripted.push(manifest.name);
    }
  }
  const size = `${(bytes / 1e6).toFixed(1)} MB of ${BUDGET_BYTES / 1e6} MB`;
  check(`installed size is within the budget: ${size}`, bytes > 0 && bytes <= BUDGET_BYTES ? '' : size);
  check('no required package has an install script', scripted.length === 0 ? '' : scripted.join(', '));

  // `module.register` hooks see every module that an import loads, before anything of it runs.
  writeFileSync(
    join(folder, 'hooks.mjs'),
    `import { writeSync } from 'node:fs';
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  writeSync(2, 'loaded ' + found.url + '\\n');
  return found;
}`,
  );
  writeFileSync(
    join(folder, 'import.mjs'),
    `import { register } from 'node:module';
register('./hooks.mjs', import.meta.url);
const loaded = await import('bridle');
if (typeof loaded.defineTool !== 'function') throw new Error('defineTool is missing');`,
  );
  const imported = sh(process.execPath, ['import.mjs'], folder);
  const loaded = [...new Set([...imported.text.matchAll(/^loaded (\S+)$/gm)].map((match) => match[1]))];
  const heavy = loaded.filter((url) => HEAVY.test(url));
  const own = loaded.filter((url) => url.includes('/node_modules/bridle/')).length;
  const builtin = [...new Set(loaded.filter((url) => url.startsWith('node:')))].sort();
  const foreign = loaded.filter((url) => url.includes('/node_modules/') && !url.includes('/node_modules/bridle/'));
  process.stdout.write(`  import 'bridle' loads ${own} modules of its own, ${foreign.length} of other packages`);
  process.stdout.write(` and ${builtin.join(', ')}\n`);
  for (const url of foreign) process.stdout.write(`    ${url.slice(url.lastIndexOf('node_modules/'))}\n`);
  check(
    "importing 'bridle' loads no model SDK, no database, no schema compiler",
    imported.ok && own > 0 && heavy.length === 0 ? '' : heavy.join(', ') || imported.text.slice(-2000),
  );

  const entries = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports)
    .filter((name) => !/\*|package\.json/.test(name))
    .map((name) => `bridle${name.slice(1)}`);
  const all = sh(
    process.execPath,
    ['--input-type=module', '-e', entries.map((name) => `await import('${name}');`).join('\n')],
    folder,
  );
  check(`every public entry can be imported: ${entries.join(', ')}`, all.ok ? '' : all.text);

  const bin = join(modules, '.bin', 'bridle');
  const wanted = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
  const versioned = sh(bin, ['--version'], folder);
  check('the installed bridle answers --version', versioned.stdout.trim() === wanted ? '' : versioned.text);
  // The demo's shop keeps its orders in the embedded database, which Node 20 has from the optional package only.
  sh('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball ?? '.'], folder);
  const demo = sh(bin, ['demo'], folder);
  check(
    'with the optional packages, the installed bridle runs the demo',
    demo.ok && /RF-/.test(demo.text) ? '' : demo.text.slice(-3000),
  );

  const tools = join(root, 'node_modules', '.bin');
  const publint = sh(join(tools, 'publint'), ['run', '--strict', join(folder, tarball ?? '')], root);
  check('publint has no complaint', publint.ok ? '' : publint.text);
  const attw = sh(join(tools, 'attw'), ['--profile', 'esm-only', join(folder, tarball ?? '')], root);
  check('the types resolve for every kind of importer (attw)', attw.ok ? '' : attw.text.slice(-3000));
  const knip = sh(join(tools, 'knip'), ['--no-progress'], root);
  check('no dead file, export or dependency (knip)', knip.ok ? '' : knip.text.slice(-3000));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const failed = results.filter(Boolean).length;
process.stdout.write(`${results.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
