/** fastmcp over HTTP, without sessions: the fastest of its ways. */
import { FastMCP } from 'fastmcp';
import { z } from 'zod';

const server = new FastMCP({
  name: 'bench',
  version: '1.0.0',
  logger: { debug() {}, error: console.error, info() {}, log() {}, warn() {} },
});
server.addTool({
  name: 'echo',
  description: 'Echoes a text.',
  parameters: z.object({ text: z.string() }),
  annotations: { readOnlyHint: true },
  execute: async ({ text }) => text,
});
const port = Number(process.argv[2]);
await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1', stateless: true } });
process.send({ url: `http://127.0.0.1:${port}/mcp` });
process.once('disconnect', () => process.exit());
