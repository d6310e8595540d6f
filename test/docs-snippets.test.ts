import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ts from 'typescript';
import { describe, expect, test, vi } from 'vitest';
import { rowFor } from '../src/cli/command.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import type { TraceEvent } from '../src/contracts/index.ts';
import { readTrace } from '../src/dispatch/index.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A type check of everything that the programs import, on a machine that has other things to do. */
const SLOW_MS = 120_000;

interface Block {
  readonly page: string;
  /** Line of the page (from 1) on which the block's text begins. */
  readonly line: number;
  /** What follows the opening fence, e.g. `ts run`. */
  readonly kind: string;
  readonly text: string;
}

const pages = ['', 'docs']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: folder !== '', encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((name) => name.endsWith('.md'))
  .sort();

function blocksOf(page: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { readonly line: number; readonly kind: string; readonly text: string[] } | undefined;
  for (const [index, line] of readFileSync(join(root, page), 'utf8').split('\n').entries()) {
    const fence = /^```(.*)$/.exec(line);
    if (!fence) open?.text.push(line);
    else if (open) {
      blocks.push({ page, line: open.line, kind: open.kind, text: open.text.join('\n') });
      open = undefined;
    } else open = { line: index + 2, kind: (fence[1] ?? '').trim(), text: [] };
  }
  if (open) throw new Error(`${page}:${open.line - 1}: this block is not closed`);
  return blocks;
}

const blocks = pages.flatMap(blocksOf);
const programs = blocks.filter(({ kind }) => kind === 'ts' || kind === 'ts run');

/** Checks all blocks in one program, each as a module beside its page. Its lines are the page's. */
function problemsOf(snippets: readonly Block[]): readonly string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: ['src/index.ts'] }, ts.sys, root);
  const texts = new Map(
    snippets.map(({ page, line, text }) => [
      join(root, `${page}.${line}.ts`),
      `${'\n'.repeat(line - 1)}${text}\nexport {};\n`,
    ]),
  );
  const host = ts.createCompilerHost(options);
  const own = { fileExists: host.fileExists, readFile: host.readFile, getSourceFile: host.getSourceFile };
  host.fileExists = (name) => texts.has(name) || own.fileExists(name);
  host.readFile = (name) => texts.get(name) ?? own.readFile(name);
  host.getSourceFile = (name, version, ...rest) => {
    const text = texts.get(name);
    return text === undefined ? own.getSourceFile(name, version, ...rest) : ts.createSourceFile(name, text, version);
  };
  const program = ts.createProgram({ rootNames: [...texts.keys()], options, host });
  return [...texts.keys()].flatMap((name) => {
    const file = program.getSourceFile(name);
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(({ start = 0, messageText }) => {
      const { line = 0 } = file?.getLineAndCharacterOfPosition(start) ?? {};
      const page = name.slice(root.length).replace(/\.\d+\.ts$/, '');
      return `${page}:${line + 1}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  });
}

const SOURCES: ReadonlyMap<string, string> = new Map([
  ['bridle', 'src/index.ts'],
  ['bridle/contracts', 'src/contracts/index.ts'],
  ['bridle/models', 'src/models/index.ts'],
  ['bridle/mcp', 'src/mcp/client/index.ts'],
  ['bridle/server', 'src/mcp/server/index.ts'],
  ['bridle/host', 'src/host/index.ts'],
  ['bridle/store', 'src/store/index.ts'],
  ['bridle/testing', 'src/testing/index.ts'],
]);

/** Where an import leads from a file outside the project. */
function located(specifier: string): string {
  const own = SOURCES.get(specifier);
  if (own !== undefined) return join(root, own);
  return specifier.startsWith('node:') ? specifier : fileURLToPath(import.meta.resolve(specifier));
}

/** Runs a program and gives what it printed, line by line. */
async function printed({ page, line, text }: Block): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-docs-'));
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((...parts: unknown[]) => {
    lines.push(...parts.map(String).join(' ').split('\n'));
  });
  try {
    const file = join(folder, `${page.replaceAll('/', '-')}-${line}.ts`);
    writeFileSync(
      file,
      text.replace(/(from )'([^']+)'/g, (_all, from: string, name: string) => `${from}'${located(name)}'`),
    );
    await import(file);
    return lines;
  } finally {
    log.mockRestore();
    rmSync(folder, { recursive: true });
  }
}

describe('programs in the docs', () => {
  test('are there', () => expect(programs.length).toBeGreaterThan(10));

  test('pass the type check', () => expect(problemsOf(programs)).toEqual([]), SLOW_MS);

  test.each(
    programs.filter(({ kind }) => kind === 'ts run').map((block) => [`${block.page}:${block.line}`, block] as const),
  )('%s prints what the block below it says', async (_place, block) => {
    const next = blocks[blocks.indexOf(block) + 1];
    expect(next?.kind).toBe('text');
    expect((await printed(block)).join('\n')).toBe(next?.text);
  });
});

describe('commands in the docs', () => {
  const commands = blocks
    .filter(({ kind }) => kind === 'console' || kind === 'sh')
    .flatMap(({ page, line, text }) =>
      text.split('\n').map((command, index) => ({ place: `${page}:${line + index}`, command })),
    )
    .filter(({ command }) => /^(\$ )?(\w+=\S+ )*(npx )?bridle /.test(command));

  test('name commands and options that exist', () => {
    const unknown = commands.filter(({ command }) => {
      // Quoted words are a task's or a rule's own.
      const words = command.replace(/"[^"]*"|'[^']*'/g, '').split(/\s+/);
      const [name = '', ...rest] = words.slice(words.indexOf('bridle') + 1);
      const found = COMMANDS.find((each) => each.name === name);
      const spec = found && rowFor(found, rest);
      // What stands after `--` is another program's.
      const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
      const options = own.filter((word) => word.startsWith('--')).map((word) => word.slice(2).replace(/=.*/, ''));
      if (spec === undefined) return !['--help', '--version'].includes(name);
      return options.some((option) => option !== 'help' && !Object.hasOwn(spec.options, option));
    });
    expect(commands.length).toBeGreaterThan(10);
    expect(unknown).toEqual([]);
  });
});

describe('configuration in the docs', () => {
  test('is JSON, and a bridle.json fits the published schema', () => {
    const schema = JSON.parse(readFileSync(join(root, 'schema/bridle.schema.json'), 'utf8'));
    const validate = new Ajv2020({ strict: false }).compile(schema);
    const wrong = blocks
      .filter(({ kind }) => kind === 'json')
      .flatMap(({ page, line, text }) => {
        const value = JSON.parse(text) as object;
        const isRules = ['permissions', 'previews', 'mode', 'sampling'].some((key) => Object.hasOwn(value, key));
        return isRules && !validate(value) ? [{ place: `${page}:${line}`, errors: validate.errors }] : [];
      });
    expect(wrong).toEqual([]);
  });
});

test('the example lines of a trace are records that its reader takes, one of each type', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bridle-docs-'));
  const file = join(folder, 'run.jsonl');
  writeFileSync(file, blocks.find(({ kind }) => kind === 'jsonl')?.text ?? '');
  const skipped: number[] = [];
  const types: string[] = [];
  for await (const { type } of readTrace(file, (line) => skipped.push(line))) types.push(type);
  rmSync(folder, { recursive: true });
  expect(skipped).toEqual([]);
  const all: Record<TraceEvent['type'], true> = {
    run: true,
    begin: true,
    input: true,
    model: true,
    intent: true,
    hook: true,
    decided: true,
    question: true,
    call: true,
    outcome: true,
    checked: true,
    limit: true,
    abort: true,
    edit: true,
    resume: true,
    end: true,
  };
  expect(types).toEqual(Object.keys(all));
});

test('files of the project that the docs name in code exist', () => {
  const missing = pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/`((?:src|test|bench|schema|examples)\/[\w./-]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});

test('links in the docs lead to pages and headings that exist', () => {
  const broken = pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
      if (/^https?:/.test(target)) return [];
      const [path = '', heading] = target.split('#');
      const file = path === '' ? join(root, page) : join(root, dirname(page), path);
      if (!existsSync(file)) return [`${page}: ${target}`];
      return heading === undefined || headings(file).includes(heading) ? [] : [`${page}: ${target}`];
    }),
  );
  expect(broken).toEqual([]);
});

/** The anchors of a page's headings, as code hosts make them. */
function headings(file: string): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
