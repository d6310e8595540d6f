/**
 * The leanest MCP server over stdio (revision 2025-11-25): one `echo` tool, no SDK, no checks. The benchmarks put each
 * client in front of it, so that the client is what is measured.
 */
const tools = [
  {
    name: 'echo',
    description: 'Returns its text.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    annotations: { readOnlyHint: true },
  },
];

function answer({ method, params }) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'lean', version: '1.0.0' },
      };
    case 'tools/list':
      return { tools };
    case 'tools/call':
      return { content: [{ type: 'text', text: params.arguments.text }] };
    case 'ping':
      return {};
    default:
      return undefined;
  }
}

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  let out = '';
  for (const line of lines) {
    if (line === '') continue;
    const message = JSON.parse(line);
    if (message.id === undefined) continue;
    const result = answer(message);
    const error = { code: -32601, message: 'Method not found' };
    out += `${JSON.stringify({ jsonrpc: '2.0', id: message.id, ...(result ? { result } : { error }) })}\n`;
  }
  if (out) process.stdout.write(out);
});
process.stdin.on('end', () => process.exit(0));
