/**
 * What a search for tools saves: tokens of definitions a request, with all tools shown and with a search, over the tasks
 * of a recorded agent, whose searches are asked again. Counts are estimates by size (`estimateTokens`), the same each time.
 *
 * Usage: node bench/tool-search.mjs --definitions FILE … [--tasks FILE] [--searches 3] [--gold FILE]
 *
 * A line of a definitions file is a JSON object with `server`, `name`, `description` and `inputSchema`; of a tasks file one
 * with `task_id` and `steps`, in which `{call: 'route', args: {query}}` is a search.  Without tasks the searches are the
 * descriptions of every 25th tool. A line of a gold file has `task_id` and `gold`: for each tool that a person found needed, a
 * list of ids of definitions that will do.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createAgent } from 'bridle';
import { estimateTokens } from 'bridle/testing';
import { median, table } from './measure.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    definitions: { type: 'string', multiple: true, default: [] },
    tasks: { type: 'string' },
    searches: { type: 'string', default: '3' },
    gold: { type: 'string' },
  },
});
const files = [...values.definitions, ...positionals];
if (files.length === 0) {
  console.error('Give files with definitions: --definitions FILE');
  process.exit(2);
}

const lines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));

/** By id of a definition, the name that its tool has here. */
const named = new Map();

/** The definitions as tools that nobody calls; names as a host would make them. */
function toolsOf(definitions) {
  const taken = new Set();
  return definitions.map(({ id, server, name, description, inputSchema }) => {
    const base = `${server}_${name}`.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 60);
    let own = base;
    for (let count = 2; taken.has(own); count += 1) own = `${base}_${count}`;
    taken.add(own);
    named.set(id, own);
    return {
      name: own,
      description: description ?? '',
      input_schema: inputSchema ?? { type: 'object' },
      run: () => 'not run',
    };
  });
}

function searchesOf(tools) {
  const most = Number(values.searches);
  if (values.tasks === undefined) {
    return tools.filter((_, at) => at % 25 === 0).map(({ description }) => ({ queries: [description.slice(0, 100)] }));
  }
  return lines(values.tasks).map(({ task_id: task, steps }) => ({
    task,
    queries: steps
      .filter(({ call, args }) => call === 'route' && typeof args?.query === 'string')
      .map(({ args }) => args.query.replace(/<\/?\w+>|^(?:server|tool):/gm, ' ').trim())
      .slice(0, most),
  }));
}

/** A model that searches in turn, and then says that it is done. */
function searching(id, queries, requests) {
  return {
    id,
    async respond(request) {
      requests.push(request);
      const query = queries[requests.length - 1];
      const content =
        query === undefined
          ? [{ type: 'text', text: 'Done.' }]
          : [{ type: 'tool_use', id: `toolu_${requests.length}`, name: 'find_tools', input: { query } }];
      const stopReason = query === undefined ? 'end_turn' : 'tool_use';
      const usage = { input_tokens: 1, output_tokens: 1 };
      return { message: { role: 'assistant', content, stop_reason: stopReason, usage }, stopReason, usage };
    },
  };
}

/** Tokens of definitions: what the request has more than without them. */
function definitionTokens({ tools, ...rest }) {
  return estimateTokens({ ...rest, tools }) - estimateTokens({ ...rest, tools: tools.slice(0, 0) });
}

async function measure(tools, tasks, id, toolSearch) {
  const first = [];
  const last = [];
  const found = new Map();
  for (const { task, queries } of tasks) {
    const requests = [];
    const agent = await createAgent({ model: searching(id, queries, requests), tools, toolSearch });
    const { messages } = await agent.run('Go.').result;
    await agent.close();
    first.push(definitionTokens(requests.at(0)));
    last.push(definitionTokens(requests.at(-1)));
    const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const parts = blocks.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    found.set(task, new Set(parts.map(({ tool_name: name }) => name)));
  }
  return { first: median(first), last: median(last), found };
}

/** Of the tools that a person found needed, those that the searches found. */
function share(found) {
  const needed = lines(values.gold).flatMap(({ task_id: task, gold }) =>
    found.has(task) ? gold.map((ids) => ids.some((id) => found.get(task).has(named.get(id)))) : [],
  );
  return `${needed.filter(Boolean).length} of ${needed.length}`;
}

const tools = toolsOf(files.flatMap(lines));
const tasks = searchesOf(tools).filter(({ queries }) => queries.length > 0);
const rows = [];
let whole;
let seen;
for (const [what, id, search] of [
  ['all shown', 'claude-opus-5-5', 'off'],
  ['search, `tool_reference`', 'claude-opus-5-5', 'auto'],
  ['search, definitions appended', 'another-model', 'auto'],
]) {
  const isOff = search === 'off';
  const { first, last, found } = await measure(tools, isOff ? [{ queries: [] }] : tasks, id, search);
  whole ??= last;
  seen = found;
  rows.push([what, first, last, `${(100 * (1 - last / whole)).toFixed(1)} %`]);
}
console.log(`${tools.length} definitions, ${tasks.length} tasks, at most ${values.searches} searches each, medians\n`);
console.log(table(['', 'first request', 'last request', 'saved'], rows));
if (values.gold !== undefined) console.log(`\n${share(seen)} tools that a person found needed were found`);
