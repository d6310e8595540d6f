import type { Reason } from '../contracts/index.ts';
import { loadProject, type Project } from '../host/index.ts';
import { type CompiledPolicy, compilePolicy } from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { counted } from './counted.ts';
import { EXIT } from './exit-code.ts';
import { columns } from './help.ts';
import { flag, stringOption } from './parse.ts';
import { readCases, runCase } from './policy-cases.ts';
import { printJson } from './print-json.ts';
import { styleFor } from './style.ts';
import { reasonLine } from './workspace.ts';

/** `bridle policy check` and `bridle policy test FILE`. Neither starts a server or asks anybody. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [verb, file] = parsed.positionals;
  if (verb === 'check' && file === undefined) return check(parsed, io);
  if (verb === 'test' && file !== undefined) return testFile(file, parsed, io);
  throw new BridleError('usage', `There is no 'bridle policy ${printable(parsed.positionals.join(' '))}'.`, {
    hint: "It is 'bridle policy check' or 'bridle policy test FILE'.",
  });
}

/** The rules as they are once the project is trusted: nothing is run here, and CI has nobody to ask. */
async function rulesAt(
  parsed: ParsedCommand,
  io: CommandIo,
): Promise<{ readonly project: Project; readonly compiled: CompiledPolicy; readonly problems: readonly Reason[] }> {
  const mode = stringOption(parsed, 'mode');
  const project = await loadProject({
    cwd: io.cwd,
    env: io.env,
    trustProject: true,
    ...(mode !== undefined && { mode }),
  });
  const compiled = compilePolicy(project.layers, {
    root: project.root,
    ...(project.mode !== undefined && { mode: project.mode }),
  });
  return { project, compiled, problems: [...compiled.problems, ...(await compiled.ready())] };
}

async function check(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const { project, compiled, problems: ofRules } = await rulesAt(parsed, io);
  const files = new Set(project.layers.map(({ file }) => file));
  const problems = [...project.warnings.filter(({ source }) => files.has(source?.file ?? '')), ...ofRules];
  const layers = project.layers.map(({ scope, file, permissions }) => {
    const { deny = [], ask = [], allow = [] } = permissions;
    return { scope, file, deny: deny.length, ask: ask.length, allow: allow.length };
  });
  if (flag(parsed, 'json')) {
    printJson(io, { mode: compiled.mode, version: compiled.version, layers, problems }, 2);
  } else {
    const style = styleFor(io.stdout, io.env);
    const rows = layers.map(({ scope, file, deny, ask, allow }) => {
      const counts = `${deny} deny, ${ask} ask, ${allow} allow`;
      return [scope, `${counts}  ${printable(file)}`] as const;
    });
    io.stdout.write(rows.length === 0 ? 'No rules yet.\n' : `${columns(rows).join('\n')}\n`);
    io.stdout.write(`mode ${compiled.mode}, version ${compiled.version}\n`);
    for (const problem of problems) io.stdout.write(`${style.yellow('problem:')} ${reasonLine(problem)}\n`);
    io.stdout.write(problems.length === 0 ? 'No problems.\n' : `${counted(problems.length, 'problem')}.\n`);
  }
  return problems.length === 0 ? 0 : EXIT.failed;
}

async function testFile(file: string, parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const cases = await readCases(file, io.cwd);
  const { project, problems } = await rulesAt(parsed, io);
  const results = [];
  for (const each of cases) results.push(await runCase(each, project));
  const failed = results.filter(({ passed }) => !passed);
  if (flag(parsed, 'json')) {
    printJson(io, { passed: results.length - failed.length, failed: failed.length, cases: results, problems }, 2);
  } else {
    const style = styleFor(io.stdout, io.env);
    for (const { name, expected, got, reasons } of failed) {
      io.stdout.write(`${style.red('✗')} ${printable(name)}: expected ${expected}, got ${got}\n`);
      for (const reason of reasons) io.stdout.write(`    ${reasonLine(reason)}\n`);
    }
    for (const problem of problems) io.stderr.write(`${style.yellow('warning:')} ${reasonLine(problem)}\n`);
    io.stdout.write(`${counted(results.length, 'case')}, ${failed.length} failed.\n`);
  }
  return failed.length === 0 ? 0 : EXIT.failed;
}
