/** The official SDK v2: its handler for both eras, behind its own Node adapter. */
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench', version: '1' });
  server.registerTool(
    'echo',
    { description: 'Echoes a text.', inputSchema: z.object({ text: z.string() }), annotations: { readOnlyHint: true } },
    async ({ text }) => ({ content: [{ type: 'text', text }] }),
  );
  return server;
});
const server = createServer(toNodeHandler(handler));
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}/mcp` }));
process.once('disconnect', () => process.exit());
