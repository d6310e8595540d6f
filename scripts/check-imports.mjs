/**
 * Keeps the import direction: a folder of `src` imports only the folders that the table allows, always through their
 * `index.ts`, and programs outside `src` only the package's public entries. Test files may import anything of `src`.
 * The graph comes from TypeScript's own reading of each file (`preProcessFile`).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const src = join(root, 'src');

/** From the top to the bottom; a folder may import those further down, unless `ONLY` or `NEVER` says otherwise. */
const ORDER = [
  'cli',
  'gateway',
  'host',
  'quality',
  'agent',
  'testing',
  'cassette',
  'models',
  'catalog',
  'mcp/client',
  'mcp/server',
  'dispatch',
  'policy',
  'store',
  'search',
  'content',
  'mcp/wire',
  'tools',
  'contracts',
];
const ONLY = {
  cassette: ['mcp/client', 'tools', 'contracts'],
  models: ['search', 'tools', 'contracts'],
  'mcp/client': ['mcp/wire', 'content', 'tools', 'contracts'],
  'mcp/server': ['mcp/wire', 'content', 'tools', 'contracts'],
  'mcp/wire': ['tools', 'contracts'],
  dispatch: ['policy', 'tools', 'contracts'],
  policy: ['tools', 'contracts'],
  store: ['tools', 'contracts'],
  search: [],
  content: ['tools', 'contracts'],
  tools: ['contracts'],
  contracts: [],
};
const NEVER = { gateway: ['agent', 'models', 'quality', 'host'], testing: ['catalog', 'mcp/client', 'mcp/server'] };
/** Packages that only a dynamic `import()` may load, so that importing `bridle` stays light. */
const LAZY = /^(@anthropic-ai\/|@modelcontextprotocol\/|ajv|re2js|node:sqlite|@photostructure\/)/;
const PUBLIC = /^bridle(\/(contracts|models|mcp|server|host|store|testing))?$/;

const allowed = new Map(
  ORDER.map((folder, at) => [
    folder,
    new Set(ONLY[folder] ?? ORDER.slice(at + 1).filter((name) => !NEVER[folder]?.includes(name))),
  ]),
);

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path);
    return /\.m?[tj]s$/.test(entry.name) ? [path] : [];
  });
}

function roomOf(path) {
  const parts = relative(src, path).split(sep);
  if (parts.length === 1) return '';
  return parts[0] === 'mcp' ? `mcp/${parts[1]}` : parts[0];
}

const complaints = [];
const complain = (file, text) => complaints.push(`${relative(root, file)}: ${text}`);

for (const file of filesBelow(src)) {
  if (/\.test\.ts$/.test(file)) continue;
  const room = roomOf(file);
  if (room !== '' && !allowed.has(room))
    complain(file, `folder src/${room} isn't in the table of scripts/check-imports.mjs`);
  const text = readFileSync(file, 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const typeOnly = new Set(
    source.statements
      .filter(
        (node) =>
          (ts.isImportDeclaration(node) && node.importClause?.isTypeOnly) ||
          (ts.isExportDeclaration(node) && node.isTypeOnly),
      )
      .map((node) => node.moduleSpecifier?.text),
  );
  const staticImports = new Set(
    source.statements
      .filter((node) => (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier)
      .map((node) => node.moduleSpecifier.text),
  );
  for (const { fileName: name } of ts.preProcessFile(text, true, true).importedFiles) {
    if (!name.startsWith('.')) {
      if (LAZY.test(name) && staticImports.has(name) && !typeOnly.has(name))
        complain(file, `${name} must be loaded by a dynamic import() at first use`);
      if (PUBLIC.test(name)) complain(file, `${name}: inside src, import the folder's own index.ts`);
      continue;
    }
    const target = resolve(dirname(file), name);
    const to = roomOf(target);
    if (to === room || room === '') continue;
    if (!allowed.get(room)?.has(to)) complain(file, `src/${room} may not import src/${to}`);
    else if (!target.endsWith(`${sep}index.ts`)) complain(file, `import src/${to} through its index.ts, not ${name}`);
  }
}

for (const folder of ['examples', 'servers']) {
  for (const file of filesBelow(join(root, folder))) {
    if (/\.test\.ts$/.test(file)) continue;
    for (const { fileName: name } of ts.preProcessFile(readFileSync(file, 'utf8'), true, true).importedFiles) {
      if (name.startsWith('.') && relative(join(root, folder), resolve(dirname(file), name)).startsWith('..')) {
        complain(file, `${name}: programs here use the package's public entries only`);
      }
      if (name.startsWith('bridle/') && !PUBLIC.test(name)) complain(file, `${name} isn't a public entry`);
    }
  }
}

if (complaints.length > 0) {
  process.stderr.write(`${complaints.join('\n')}\n`);
  process.exitCode = 1;
} else {
  process.stdout.write('import directions hold\n');
}
