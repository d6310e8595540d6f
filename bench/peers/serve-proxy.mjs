/** mcp-proxy in front of the lean stdio echo. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const port = process.argv[2];
const bin = fileURLToPath(new URL('node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs', import.meta.url));
const lean = fileURLToPath(new URL('../lean-server.mjs', import.meta.url));
const words = [bin, '--host', '127.0.0.1', '--port', port, '--server', 'stream', '--', process.execPath, lean];
const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 2] });
const url = `http://127.0.0.1:${port}/mcp`;
for (;;) {
  const isUp = await fetch(url).then(
    () => true,
    () => false,
  );
  if (isUp) break;
  await new Promise((resolve) => setTimeout(resolve, 50));
}
process.send({ url });
process.once('disconnect', () => {
  child.kill();
  process.exit();
});
