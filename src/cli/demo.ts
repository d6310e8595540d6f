import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Agent, type AgentOptions, createAgent, type RunEnd } from '../agent/index.ts';
import { createTrace, type Trace } from '../dispatch/index.ts';
import {
  CLIENT_CAPABILITIES,
  loadProject,
  previewsFor,
  type ScriptedAnswer,
  scriptedAsker,
  scriptedPrompter,
  serverRequests,
} from '../host/index.ts';
import { closeAll, connectStdio, mcpSource } from '../mcp/client/index.ts';
import { compilePolicy } from '../policy/index.ts';
import { BridleError, isBridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { columns } from './help.ts';
import { closingOnAbort, interruptible } from './interrupt.ts';
import { runId } from './run.ts';
import { stepPrinter } from './steps.ts';
import { type Style, styleFor } from './style.ts';
import { tracesDir } from './traces.ts';

/** The bundled shop: its folder holds the project's files, its compiled server lies in `dist`. */
const SHOP = fileURLToPath(new URL('../../examples/shop/', import.meta.url));
const TICKETS = fileURLToPath(new URL('../examples/tickets/tickets.js', import.meta.url));

interface Scene {
  readonly title: string;
  readonly task: string;
  /** What the one who is asked says, in order. The words are printed before the scenes begin. */
  readonly answers: readonly ScriptedAnswer[];
  /** What the shop's customer types into its form. */
  readonly customer?: readonly string[];
  readonly ends: RunEnd;
}

const SCENES: readonly Scene[] = [
  {
    title: 'A refund, asked about because a rule says so, and confirmed to the shop by its customer',
    task: 'Please refund order O-104.',
    answers: [{ tool: 'refund_transaction', answer: 'allow' }],
    customer: ['y', 'y'],
    ends: 'answered',
  },
  {
    title: 'The same kind of call, and this time the answer is no',
    task: 'Please refund order O-105.',
    answers: [{ tool: 'refund_transaction', answer: 'deny', reason: 'Not this one: the customer keeps it.' }],
    ends: 'answered',
  },
  {
    title: 'Allowed again, and now the customer says no to the shop: the model has no say in that',
    task: 'Please refund order O-105.',
    answers: [{ tool: 'refund_transaction', answer: 'allow' }],
    customer: ['/decline'],
    ends: 'answered',
  },
  {
    title: 'A fact is missing, so the agent asks instead of guessing',
    task: 'Where is my order?',
    answers: [],
    ends: 'asked',
  },
  {
    title: "Somebody else's order reads like one that doesn't exist",
    task: 'Where is order O-201?',
    answers: [],
    ends: 'answered',
  },
];

/** `bridle demo`: the bundled examples, step by step. No key, no network. */
export async function run(_parsed: ParsedCommand, io: CommandIo): Promise<number> {
  return interruptible((signal) => tour(io, signal), io);
}

async function tour(io: CommandIo, signal: AbortSignal): Promise<number> {
  const out = (text = '') => io.stdout.write(`${text}\n`);
  const style = styleFor(io.stdout, io.env);
  const project = await loadProject({
    cwd: SHOP,
    env: { ...io.env, SHOP_DB: undefined, SHOP_CUSTOMER: undefined },
    // The demo is the same for everybody: the person's own rules have no part in it.
    configDir: join(SHOP, 'no-settings-of-a-person'),
    trustProject: true,
  });
  const { policy } = compilePolicy(project.layers, { root: project.root });
  // The demo runs on the Node that runs it, also where PATH has another one or none.
  const servers = project.servers.flatMap((server) => {
    if (server.kind !== 'stdio') return [];
    return server.command === 'node' ? { ...server, command: process.execPath } : server;
  });
  const lines: string[] = [];
  const input = serverRequests({
    root: project.root,
    prompter: scriptedPrompter(() => lines.shift(), io.stdout),
    note: (text) => io.stderr.write(`${text}\n`),
  });
  const connections = servers.map((server) =>
    connectStdio(server, { projectRoot: project.root, capabilities: CLIENT_CAPABILITIES, input }),
  );
  const trace = await openTrace(io);
  try {
    await introduce(out, style, io);
    const asked: ScriptedAnswer[] = SCENES.flatMap((scene) => scene.answers);
    const steps = stepPrinter((text) => io.stdout.write(text), style);
    const options: AgentOptions = {
      name: 'demo',
      via: 'terminal',
      model: 'offline',
      sources: connections.map((connection) =>
        mcpSource(connection, { previews: previewsFor(project.previews, connection.server.key) }),
      ),
      policy,
      asker: scriptedAsker(asked, io.stdout),
      input,
      ...(trace && { trace }),
      onProgress: steps.onProgress,
      recorder: steps.recorder,
    };
    const agent = await closingOnAbort(signal, closeAll, () => createAgent(options));
    signal.throwIfAborted();
    const [problem] = agent.catalog.problems();
    if (problem) throw new BridleError('demo_server', `The demo's server can't be used. ${problem.text}`);
    out(style.bold('The tools that the agent sees'));
    for (const line of columns(agent.tools().map(({ ref, description }) => [ref.name, description] as const)))
      out(line);

    let wrong = 0;
    for (const [index, scene] of SCENES.entries()) {
      if (signal.aborted) break;
      lines.splice(0, lines.length, ...(scene.customer ?? []));
      wrong += (await play(agent, scene, index + 1, signal, out, style)) ? 0 : 1;
    }
    await agent.close();
    if (signal.aborted) return 130;
    await tickets(out, style, signal);
    next(out, style, io, trace);
    return wrong === 0 ? 0 : 1;
  } finally {
    await trace?.close();
    await Promise.all(connections.map((connection) => connection.close()));
  }
}

/** A trace is a help, not a need: where none can be written the demo says so and goes on. */
async function openTrace(io: CommandIo): Promise<Trace | undefined> {
  try {
    return await createTrace({
      dir: tracesDir(io),
      run: runId(),
      agent: 'demo',
      model: 'offline',
      task: 'bridle demo',
    });
  } catch (error) {
    io.stderr.write(`no trace is kept: ${printable(isBridleError(error) ? error.message : String(error))}\n`);
    return undefined;
  }
}

async function introduce(out: (text?: string) => void, style: Style, io: CommandIo): Promise<void> {
  out(style.bold('Bridle: a model proposes a call; code decides whether it may run.'));
  out();
  out('An agent is given a real MCP server over stdio. The model is the offline planner: no key, no network.');
  for (const name of ['.mcp.json', 'bridle.json']) {
    out();
    out(style.bold(relative(io.cwd, `${SHOP}${name}`) || name));
    out(style.dim((await readFile(`${SHOP}${name}`, 'utf8')).trimEnd()));
  }
  out();
  out(style.bold("Nobody sits here, so this script answers the agent's questions"));
  for (const scene of SCENES) {
    for (const { tool, answer, reason } of scene.answers) {
      out(`  "${scene.task}" → ${tool}: ${answer}${reason ? ` (${reason})` : ''}`);
    }
    if (scene.customer) out(`  "${scene.task}" → the shop's form: ${scene.customer.join(', ')}`);
  }
  out();
}

async function play(
  agent: Agent,
  scene: Scene,
  number: number,
  signal: AbortSignal,
  out: (text?: string) => void,
  style: Style,
): Promise<boolean> {
  out();
  out(style.bold(`${number}. ${scene.title}`));
  out(`${style.cyan('you:')} ${scene.task}`);
  const result = await agent.run(scene.task, { signal }).result;
  out(`${style.green('agent:')} ${printable(result.text || result.error?.message || '(nothing)', { newlines: true })}`);
  out(style.dim(`  ended: ${result.end}`));
  return result.end === scene.ends;
}

/** The smallest example is a program of its own, and is run as one. */
async function tickets(out: (text?: string) => void, style: Style, signal: AbortSignal): Promise<void> {
  out();
  out(style.bold(`${SCENES.length + 1}. The same as a library: examples/tickets/tickets.ts, one tool in thirty lines`));
  out(`${style.cyan('you:')} What is the status of ticket T-17?`);
  const child = spawn(process.execPath, [TICKETS], { stdio: ['ignore', 'pipe', 'inherit'], signal });
  let answer = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (status !== 0) throw new BridleError('demo_tickets', `The example ${TICKETS} ended with status ${status}.`);
  out(`${style.green('agent:')} ${printable(answer.trim(), { newlines: true })}`);
}

function next(out: (text?: string) => void, style: Style, io: CommandIo, trace: Trace | undefined): void {
  const shop = relative(io.cwd, SHOP) || '.';
  out();
  out(style.bold('Try next'));
  const rows: (readonly [string, string])[] = [
    [`cd ${shop} && npx bridle run "Please refund order O-104."`, 'the same, and you are the one who is asked'],
    [`cd ${shop} && npx bridle explain mcp__shop__refund_transaction`, 'where the tool comes from and which rule asks'],
    ['npx bridle run "What can you do?" --mcp-config FILE', 'with the servers of any .mcp.json that you have'],
    ['npx bridle --help', 'all commands'],
  ];
  if (trace) rows.unshift(['npx bridle trace show', 'each call of this demo, with its decision and its facts']);
  for (const [command, what] of rows) out(`  ${command}\n      ${style.dim(what)}`);
  if (io.stdin.isTTY) {
    out();
    out('You are at a terminal: run the first of these, and answer y or n when you are asked about the refund.');
  }
}
