import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Compiles folders of `src` as they are now into a temporary package, for tests that start a program of ours in another
 * process, on a Node that can't run TypeScript. Types are not checked here.
 *
 * @param folders such as `['contracts', 'tools', 'mcp/client']`, each with the folders in it
 * @returns the folder that takes the place of `dist`
 */
export async function compiled(folders: readonly string[]): Promise<string> {
  const target = await mkdtemp(join(tmpdir(), 'bridle-compiled-'));
  await symlink(join(root, 'node_modules'), join(target, 'node_modules'));
  await symlink(join(root, 'package.json'), join(target, 'package.json'));
  for (const folder of folders) {
    for (const name of await readdir(join(root, 'src', folder), { recursive: true })) {
      if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue;
      const { outputText } = ts.transpileModule(await readFile(join(root, 'src', folder, name), 'utf8'), {
        compilerOptions: {
          target: ts.ScriptTarget.ES2022,
          module: ts.ModuleKind.ESNext,
          verbatimModuleSyntax: true,
          rewriteRelativeImportExtensions: true,
        },
      });
      const file = join(target, 'dist', folder, name.replace(/\.ts$/, '.js'));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, outputText);
    }
  }
  return join(target, 'dist');
}
