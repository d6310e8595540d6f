import { instructionsReason } from '../host/index.ts';
import { printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { EXIT } from './exit-code.ts';
import { flag } from './parse.ts';
import { printJson } from './print-json.ts';
import { styleFor } from './style.ts';
import { withCatalog } from './tools.ts';
import { reasonLine } from './workspace.ts';

/** `bridle explain <tool>`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const name = parsed.positionals[0] ?? '';
  return withCatalog(parsed, io, async ({ catalog, workspace, who }) => {
    const found = catalog.find(name);
    const reasons = [
      ...catalog.explain(name, who),
      ...workspace.servers.flatMap((server) =>
        found?.tool.ref.server?.key === server.key ? (instructionsReason(server.said()) ?? []) : [],
      ),
      ...workspace.project.notStarted.flatMap((server) =>
        name.includes(server.key)
          ? server.reasons.map((reason) => ({
              ...reason,
              text: `Server "${server.key}" is not started: ${reason.text}`,
            }))
          : [],
      ),
    ];
    if (flag(parsed, 'json')) {
      const definition = found ? found.tool.raw.parse() : null;
      printJson(io, { name, found: found !== undefined, reasons, definition }, 2);
    } else {
      const style = styleFor(io.stdout, io.env);
      io.stdout.write(`${style.bold(printable(name))}\n`);
      for (const reason of reasons) io.stdout.write(`  ${style.dim(`${reason.room}:`)} ${reasonLine(reason)}\n`);
    }
    const known = found !== undefined || reasons.some(({ code }) => code !== 'unknown_tool');
    return known ? 0 : EXIT.failed;
  });
}
