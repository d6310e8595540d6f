import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Sites on this machine, in place of the real ones. */
export interface Site {
  /** Such as `127.0.0.1:8080`. */
  readonly host: string;
  /** Paths that were asked for, in order. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/**
 * @param pages texts by path
 * @param moved addresses by path: these are answered by a redirect
 */
export async function openSite(
  pages: ReadonlyMap<string, string>,
  moved: ReadonlyMap<string, string> = new Map(),
): Promise<Site> {
  const asked: string[] = [];
  const server = createServer(({ url = '/' }, response) => {
    asked.push(url);
    const to = moved.get(url);
    const text = pages.get(url);
    if (to !== undefined) response.writeHead(302, { location: to }).end();
    else response.writeHead(text === undefined ? 404 : 200, { 'content-type': 'text/markdown' }).end(text);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
