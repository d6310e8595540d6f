/** The limit: what plain `node:http` does with the same bodies, one parse and one write each. */
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.once('end', () => {
    const { id, params } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const result = { content: [{ type: 'text', text: params.arguments.text }], isError: false };
    const body = JSON.stringify({ jsonrpc: '2.0', id, result });
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}/mcp` }));
process.once('disconnect', () => process.exit());
