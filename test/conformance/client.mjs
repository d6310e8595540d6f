/**
 * The client that the conformance suite drives: Bridle's public API, used the same way whatever the scenario. It lists
 * what the server has and uses each thing once; questions are answered with their defaults.
 *
 * The suite gives the server's address as the last argument, and in `MCP_CONFORMANCE_CONTEXT` the calls that a scenario
 * wants made.
 */
import { compilePolicy, createCatalog, createDispatcher, nullRecorder, refuseAsker } from 'bridle';
import { connectHttp, listAll, mcpSource } from 'bridle/mcp';

const LIMITS = { idleMs: 20_000, hardMs: 25_000 };
const url = process.argv.at(-1);
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const { signal } = new AbortController();

const input = async (raw) => {
  const { method, params } = raw.parse();
  if (method === 'roots/list') return { roots: [] };
  if (method !== 'elicitation/create') throw new Error(`${method} is not answered here`);
  const { properties = {} } = params.requestedSchema ?? {};
  return {
    action: 'accept',
    content: Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valueFor(schema)])),
  };
};

const connection = connectHttp(
  { key: 'suite', scope: 'code', url },
  { capabilities: { elicitation: { form: {}, url: {} }, roots: {}, sampling: {} }, input },
);
const source = mcpSource(connection);
const { policy } = compilePolicy([], { mode: 'bypassPermissions' });
const catalog = createCatalog({ sources: [source], policy });
await catalog.refresh();
const dispatcher = createDispatcher({
  find: catalog.find,
  policy,
  asker: refuseAsker(),
  recorder: nullRecorder(),
});
const who = { agent: 'conformance', via: 'library' };
const tools = catalog.list(who);

const call = async (tool, args, profile = 'agent') => {
  const outcome = await dispatcher.call({
    name: tool.ref.name,
    args: { text: JSON.stringify(args), parse: () => args },
    profile,
    conversation: 'conformance',
    ctx: { callId: tool.ref.tool, who, signal, ...LIMITS, input, onEvent: () => {} },
  });
  console.log(tool.ref.tool, outcome.kind);
};

if (toolCalls) {
  for (const { name, arguments: args } of toolCalls) {
    const tool = tools.find(({ ref }) => ref.tool === name);
    // As they are, also where an argument isn't what the schema says: that is the relay's way.
    if (tool) await call(tool, args, 'relay');
  }
} else {
  for (const tool of tools) await call(tool, valueFor(tool.inputSchema));
}

const has = (what) => connection.about?.capabilities[what] !== undefined;
const each = async (what, method, member, use) => {
  if (!has(what)) return;
  const { items } = await listAll(connection, method, member, { signal, ...LIMITS });
  for (const item of items) await connection.request(...use(item.parse()), { signal, ...LIMITS });
};
await each('resources', 'resources/list', 'resources', ({ uri }) => ['resources/read', { uri }]);
await each('prompts', 'prompts/list', 'prompts', ({ name }) => ['prompts/get', { name, arguments: {} }]);

catalog.close();
await connection.close();

/** A value that fits a schema: its default, or the simplest there is. */
function valueFor(schema) {
  if (typeof schema !== 'object' || schema === null) return null;
  if ('default' in schema) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  switch (schema.type) {
    case 'object': {
      const names = schema.required ?? [];
      return Object.fromEntries(names.map((name) => [name, argumentFor(name, schema.properties?.[name])]));
    }
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return 2;
    case 'array':
      return [];
    default:
      return 'a';
  }
}

/** One scenario wants the schema of another tool back, as it was read. */
function argumentFor(name, schema) {
  const other = tools.find(({ ref }) => ref.tool === 'json_schema_2020_12_tool');
  return name === 'schema' && other ? other.raw.parse().inputSchema : valueFor(schema);
}
