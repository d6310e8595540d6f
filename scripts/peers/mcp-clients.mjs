/**
 * Other people's MCP clients, each as its own documentation uses it: each lists the tools, calls one, reads a resource and
 * gets a prompt, as far as it can.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** @typedef {{ names?: { add: string, greet: string } } & ({ command: string, args: string[] } | { url: string, token: string })} Target */

/**
 * Each gives what it saw: names of tools, the text of a call, of a resource, of a prompt; null for what it can't do.
 *
 * @param {(name: string) => Promise<any>} load of the folder in which the clients are installed
 * @param {string} folder
 */
export function mcpClients(load, folder) {
  const bearer = ({ token }) => ({ Authorization: `Bearer ${token}` });
  const namesOf = ({ names = { add: 'add', greet: 'greet' } }) => names;
  const started = ({ command, args }) => ({ command, args });
  return {
    async '@ai-sdk/mcp'(target) {
      const { add, greet } = namesOf(target);
      const { createMCPClient } = await load('@ai-sdk/mcp');
      const { Experimental_StdioMCPTransport: Stdio } = await load('@ai-sdk/mcp/mcp-stdio');
      const transport =
        'url' in target ? { type: 'http', url: target.url, headers: bearer(target) } : new Stdio(started(target));
      const client = await createMCPClient({ transport });
      try {
        const tools = await client.tools();
        const called = await tools[add].execute({ a: 1, b: 2 }, { toolCallId: 'c', messages: [] });
        const read = await client.readResource({ uri: 'notes://one' });
        const get = client.getPrompt ?? client.experimental_getPrompt;
        const prompt = await get.call(client, { name: greet, arguments: { who: 'Ada' } });
        return [Object.keys(tools), called.content?.[0]?.text, read.contents[0].text, prompt.messages[0].content.text];
      } finally {
        await client.close();
      }
    },
    async 'mcp-use'(target) {
      const { add, greet } = namesOf(target);
      const { MCPClient } = await load('mcp-use/client');
      const server = 'url' in target ? { url: target.url, headers: bearer(target) } : started(target);
      const client = new MCPClient({ mcpServers: { bridle: server } });
      try {
        const session = await client.createSession('bridle');
        const tools = await session.listTools();
        const called = await session.callTool(add, { a: 1, b: 2 });
        const read = await session.readResource('notes://one');
        const prompt = await session.getPrompt(greet, { who: 'Ada' });
        const [note] = read.contents;
        return [tools.map(({ name }) => name), called.content[0].text, note.text, prompt.messages[0].content.text];
      } finally {
        await client.closeAllSessions();
      }
    },
    async '@langchain/mcp-adapters'(target) {
      const { MultiServerMCPClient } = await load('@langchain/mcp-adapters');
      const server =
        'url' in target
          ? { transport: 'http', url: target.url, headers: bearer(target) }
          : { transport: 'stdio', ...started(target) };
      const client = new MultiServerMCPClient({ bridle: server });
      try {
        const tools = await client.getTools();
        const called = await tools[0].invoke({ a: 1, b: 2 });
        const [note] = await client.readResource('bridle', 'notes://one');
        return [tools.map(({ name }) => name), [called].flat()[0].text ?? called, note.text, null];
      } finally {
        await client.close();
      }
    },
    async '@modelcontextprotocol/inspector'(target) {
      const { add, greet } = namesOf(target);
      const program = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
      const where =
        'url' in target
          ? ['--server-url', target.url, '--header', `Authorization: Bearer ${target.token}`]
          : [target.command, ...target.args];
      const ask = (...args) => run(process.execPath, [program, '--cli', ...where, ...args]);
      const { tools } = await ask('--method', 'tools/list');
      const called = await ask('--method', 'tools/call', '--tool-name', add, '--tool-arg', 'a=1', 'b=2');
      const read = await ask('--method', 'resources/read', '--uri', 'notes://one');
      const prompt = await ask('--method', 'prompts/get', '--prompt-name', greet, '--prompt-args', 'who=Ada');
      const [note] = read.contents;
      return [tools.map(({ name }) => name), called.content[0].text, note.text, prompt.messages[0].content.text];
    },
  };
}

/** The JSON that a program prints. */
function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.once('error', reject).once('close', (code) => {
      if (code === 0) resolve(JSON.parse(stdout));
      else reject(new Error(`${args.slice(1).join(' ')} ended with ${code}: ${stderr || stdout}`));
    });
  });
}
