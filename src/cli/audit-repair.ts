import { hostname } from 'node:os';
import { type AuditOpener, anchorsOf, type WriterState, writerState } from '../policy/index.ts';
import { printable } from '../tools/index.ts';
import type { CommandIo } from './command.ts';
import { counted } from './counted.ts';
import { auditAnchors, auditKey, auditLogs } from './open-audit.ts';

const BY_HAND = 'Once no bridle runs on any machine that has this folder, cut the file off behind its last line feed';

/** Why the end of a chain is left as it is; null: nobody writes there any more. */
function whyLeft(writer: WriterState): string | null {
  switch (writer.state) {
    case 'closed':
    case 'ended':
      return null;
    case 'running':
      return 'its process still runs; left as it is';
    case 'elsewhere':
      return (
        `it was begun on the machine "${writer.host}", and from here nobody can tell whether its process still runs; left ` +
        `as it is. Run 'bridle audit verify --repair' there. If there is no such machine any more: ${BY_HAND}`
      );
    case 'unknown':
      return `the record of the process that began it can't be read, so that one may still run; left as it is. ${BY_HAND}`;
  }
}

/** Cuts off what killed writers left half written, and says of each chain what was done. */
export async function repairAudit(io: CommandIo, output: Pick<CommandIo['stdout'], 'write'>): Promise<void> {
  const logs = auditLogs(io);
  // What is wrong with anchors is told by the verification that follows.
  const anchors = await anchorsOf(auditAnchors(io), () => {});
  const key = await auditKey(io);
  for (const writer of await logs.writers()) {
    const said = await repaired(writer).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      return `left as it is: ${why}`;
    });
    if (said !== undefined) output.write(`${printable(`${writer}: ${said}`)}\n`);
  }

  async function repaired(writer: string): Promise<string | undefined> {
    if (!(await logs.segments(writer)).some(({ torn }) => torn > 0)) return undefined;
    const here = { key, host: hostname(), isRunning };
    const left = whyLeft(await writerState(logs, writer, anchors.get(writer), here));
    return left ?? `${counted(await logs.cutTorn(writer), 'byte')} cut off`;
  }
}

/** Of another machine nobody knows. */
export function isRunning({ host, pid }: AuditOpener): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
