import type { Json } from '../contracts/index.ts';
import type { ServerEntry } from '../host/index.ts';
import { connectHttp, connectStdio } from '../mcp/client/index.ts';
import { isBridleError } from '../tools/index.ts';

/** Whether a server answers. */
export type Checked =
  | { readonly ok: true; readonly ms: number; readonly server?: string }
  | { readonly ok: false; readonly ms: number; readonly code: string; readonly text: string };

/**
 * Starts a server, waits until it is ready, and ends it again. Never throws.
 *
 * @param seconds how long it may take
 */
export async function checkServer(
  entry: ServerEntry,
  projectRoot: string,
  seconds: number,
  signal: AbortSignal,
): Promise<Checked> {
  const connection = entry.kind === 'http' ? connectHttp(entry, { projectRoot }) : connectStdio(entry, { projectRoot });
  const startedAt = performance.now();
  const took = () => Math.round(performance.now() - startedAt);
  const late = AbortSignal.timeout(seconds * 1000);
  try {
    await connection.connect(AbortSignal.any([signal, late]));
    const server = nameOf(connection.about?.serverInfo);
    return { ok: true, ms: took(), ...(server !== undefined && { server }) };
  } catch (error) {
    if (late.aborted)
      return { ok: false, ms: took(), code: 'check_timeout', text: `No answer within ${seconds} seconds.` };
    const text = error instanceof Error ? error.message : String(error);
    return { ok: false, ms: took(), code: isBridleError(error) ? error.code : 'check_failed', text };
  } finally {
    await connection.close();
  }
}

function nameOf(info: Json | undefined): string | undefined {
  if (typeof info !== 'object' || info === null || Array.isArray(info)) return undefined;
  const { name, version } = info as { readonly name?: Json; readonly version?: Json };
  return typeof name === 'string' ? `${name}${typeof version === 'string' ? ` ${version}` : ''}` : undefined;
}
