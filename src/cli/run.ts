import { randomBytes, randomUUID } from 'node:crypto';
import { type Agent, type AgentOptions, createAgent, type RunResult } from '../agent/index.ts';
import type { Json, Model, Reason } from '../contracts/index.ts';
import { allRecorders, createTrace, idempotencyLedger, openTrace, refuseAsker, type Trace } from '../dispatch/index.ts';
import { type AgentFile, MAIN_AGENT, terminalAsker } from '../host/index.ts';
import { resolveModel } from '../models/index.ts';
import { memoryStore } from '../store/index.ts';
import { BridleError, isBridleError, printable } from '../tools/index.ts';
import { approvalInbox } from './approval-inbox.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { counted } from './counted.ts';
import { EXIT } from './exit-code.ts';
import { closingOnAbort, interruptible } from './interrupt.ts';
import { lentLine } from './lent-line.ts';
import { namesWithoutTools, noticing } from './names-without-tools.ts';
import { noServers } from './no-servers.ts';
import { openAudit } from './open-audit.ts';
import { openTelemetry } from './open-telemetry.ts';
import { flag, numberOption, stringOption } from './parse.ts';
import { needsContent, personInput } from './person-input.ts';
import { printJson } from './print-json.ts';
import { readyMs, requireServers, stillStarting } from './ready.ts';
import { reportText } from './report-text.ts';
import { asItWas, runToResume, unsureAsker, wasBegun } from './resume-run.ts';
import { stateLedger, stateStore } from './state-store.ts';
import { stepPrinter } from './steps.ts';
import { styleFor } from './style.ts';
import { subagentOptions } from './subagents.ts';
import { openTape } from './tape.ts';
import { toolSearchFor, toolSearchOption } from './tool-search-option.ts';
import { tracesDir } from './traces.ts';
import { openWorkspace, type Workspace, warn } from './workspace.ts';

/** `bridle run "task"` and `bridle run --resume [ID]`. */
export async function run(given: ParsedCommand, io: CommandIo): Promise<number> {
  const resumes = flag(given, 'resume') ? await runToResume(given.positionals[0], io) : undefined;
  const tape = await openTape(given, io);
  const was = resumes ?? tape.player?.header;
  const parsed = was ? asItWas(given, was) : given;
  const task = was?.task ?? parsed.positionals[0] ?? '';
  if (task.trim() === '') {
    throw new BridleError('usage', 'There is no task.', {
      hint: 'Say what the agent is to do: bridle run "task". Or go on with a run that broke off: bridle run --resume.',
    });
  }
  const parkSeconds = numberOption(parsed, 'park-seconds', 'number');
  const limits = {
    turns: numberOption(parsed, 'max-turns'),
    ms: seconds(numberOption(parsed, 'max-seconds', 'number')),
    tokens: numberOption(parsed, 'max-tokens'),
    costUsd: numberOption(parsed, 'max-cost', 'number'),
  };
  const chosen = tape.player
    ? { model: tape.player.model(), isFlag: true, isDefault: false }
    : await chosenModel(parsed, io, resumes?.model);
  // Recordings that don't say hold no other models.
  const oneModel = tape.player ? tape.player.header.oneModel !== false : chosen.isFlag;
  const name = stringOption(parsed, 'agent') ?? MAIN_AGENT;
  const waitMs = readyMs(parsed, io);
  const search = toolSearchOption(parsed);
  const quiet = flag(parsed, 'quiet');
  const style = styleFor(io.stderr, io.env);

  return interruptible(async (signal) => {
    const workspace = await openWorkspace(parsed, io, signal, { reach: tape.connection });
    const state = stateStore(io);
    const inbox = approvalInbox(io, workspace.project.root, state);
    const audit = await openAudit(workspace, io, { agent: name, via: 'terminal' });
    const told = openTelemetry(workspace, io, (text) => warn([{ room: 'cli', code: 'telemetry', text }], io));
    let trace: Trace | undefined;
    let hasEnd = false;
    try {
      const { model: asked, isDefault } = await modelFor(workspace.agent, chosen);
      const conversation = tape.player?.header.conversation ?? randomUUID();
      await tape.begin({ project: workspace.project, model: asked, agent: name, task, conversation, oneModel });
      const model = tape.model(asked);
      if (isDefault && !quiet) {
        io.stderr.write(style.dim('model: the offline planner, no language model (--model claude-… for a real one)\n'));
      }
      workspace.lend(() => model);
      const place = { dir: tracesDir(io), run: resumes?.run ?? runId() };
      const project = workspace.project.root;
      trace = await (resumes
        ? openTrace(place)
        : createTrace({ ...place, agent: name, model: model.id, task, project }));
      const goesOn = resumes !== undefined && (await wasBegun(trace));
      const { policy, seen } = noticing(workspace.compiled.policy);
      const steps = quiet ? undefined : stepPrinter((text) => io.stderr.write(text), style);
      const options: AgentOptions = {
        name,
        via: 'terminal',
        model,
        sources: workspace.sources,
        views: workspace.views.set,
        policy,
        asker: tape.asker(inbox.asker(unstored(workspace, flag(parsed, 'park'), parkSeconds))),
        hooks: workspace.hooks,
        // What is played back is no act, and none that was recorded answers for it.
        idempotency: tape.player ? idempotencyLedger(memoryStore()) : stateLedger(state),
        input: workspace.input,
        system: systemFor(workspace.project.root, workspace.agent),
        sourceNotes: workspace.instructions,
        trace,
        toolSearch: toolSearchFor(model, search),
        // The offline planner marks its questions itself; other models say so by calling a tool.
        askUser: model.id !== 'offline',
        ...(!tape.waitsForAll && { ready: { ms: waitMs } }),
        limits: defined({ ...limits, turns: limits.turns ?? workspace.agent?.maxTurns }),
        recorder: allRecorders(tape.player ? undefined : audit.recorder, steps?.recorder, told.recorder),
        ...(await tape.started(subagentOptions(parsed, workspace, { ...place, isModelFlag: oneModel }))),
        ...(steps && { onProgress: steps.onProgress }),
      };
      const agent = await closingOnAbort(signal, workspace.close, () => createAgent(options));
      if (!tape.player) audit.follow({ agent: () => agent, policy, version: () => workspace.compiled.version });
      // Servers that were stopped have no problem of their own.
      if (!signal.aborted) {
        const readiness = agent.catalog.readiness();
        requireServers(parsed, readiness, workspace.project.notStarted);
        warn([...agent.catalog.problems(), ...stillStarting(readiness), ...agent.warnings()], io);
        warn([...workspace.notes(), ...hiddenByPlan(workspace, agent)], io);
        warn(namesWithoutTools(workspace, agent.catalog, { agent: name, via: 'terminal' }, seen), io);
      }
      workspace.instructions();
      workspace.tell(
        (text) => !quiet && io.stderr.write(`${style.dim(text)}\n`),
        (reason) => warn([reason], io),
      );
      const bare = noServers(workspace.project);
      if (bare !== undefined && !quiet) io.stderr.write(style.dim(`${bare}\n`));
      const compose = async (trace: Trace) => {
        if (needsContent(task, false)) await closingOnAbort(signal, workspace.close, () => workspace.content.refresh());
        const said = await personInput({
          workspace,
          who: { agent: name, via: 'terminal' },
          input: workspace.input,
          recorder: allRecorders(audit.recorder, trace),
          conversation: () => conversation,
          tool: (wire) => agent.catalog.find(wire)?.tool,
          prompter: workspace.prompter,
          note: (text) => !quiet && io.stderr.write(`${style.dim(text)}\n`),
        }).compose(task, signal);
        if (said.label) trace.event(said.label);
        return said.content;
      };
      const said = goesOn ? undefined : (tape.player?.input ?? (await compose(trace)));
      if (said !== undefined) tape.input(said);
      // From here on the agent writes how it ended.
      hasEnd = true;
      const unsure = workspace.prompter && unsureAsker(workspace.prompter);
      const result = await (said === undefined
        ? agent.resume(trace, { signal, limits: defined(limits), ...(unsure && { unsure }) })
        : agent.run(said as string | Json[], { signal, conversation })
      ).result;
      await agent.endSession(result.conversation, 'other');
      await agent.close();
      print(result, trace, parsed, io);
      await tape.close();
      const fault = tape.fault();
      if (fault !== undefined && result.error?.code !== fault.code) throw fault;
      const lent = lentLine(workspace.lent());
      if (lent !== undefined && !quiet) io.stderr.write(style.dim(`${lent}\n`));
      const waiting = await inbox.pending(result.parked?.map(({ approval }) => approval) ?? []);
      if (waiting > 0) tellWaiting(waiting, result, io);
      return waiting > 0 && (result.end === 'answered' || result.end === 'asked') ? EXIT.waiting : EXIT[result.end];
    } catch (error) {
      // One that goes on can still be gone on with.
      if (!hasEnd && !resumes) trace?.end(signal.aborted ? 'aborted' : 'failed', notBegun(error));
      throw error;
    } finally {
      await Promise.all([trace?.close(), tape.close()]);
      await audit.close();
      await inbox.close();
      await Promise.all([workspace.close(), told.close(signal)]);
    }
  }, io);
}

/** The end of a run that failed before the model was asked anything, in the shape of other ends. */
function notBegun(error: unknown): Json {
  const code = isBridleError(error) ? error.code : 'internal';
  const message = error instanceof Error ? error.message : String(error);
  const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  return { text: '', turns: 0, calls: 0, usage, error: { code, message } };
}

/** What happens to a question that nothing stored answers. */
export function unstored({ prompter, project }: Workspace, park = false, seconds?: number) {
  if (prompter) return { person: terminalAsker({ prompter }) };
  const { approvals } = project;
  const parks = park || seconds !== undefined || approvals.park === true;
  if (!parks) return { person: refuseAsker(HOW_TO_ALLOW) };
  return { park: { waitMs: (seconds ?? approvals.waitSeconds ?? 0) * 1000 } };
}

function tellWaiting(count: number, { parked = [] }: RunResult, io: CommandIo): void {
  const style = styleFor(io.stderr, io.env);
  const what = count === 1 ? 'one call waits' : `${count} calls wait`;
  const ids = [...new Set(parked.map(({ approval }) => approval))];
  io.stderr.write(`${style.yellow(`${what} for approval:`)} ${ids.map((id) => printable(id)).join(' ')}\n`);
  io.stderr.write(`  'bridle approvals show ID' tells what it is. Once it is approved, run the same task again.\n`);
}

/** For whoever reads a refusal where nobody could be asked. */
const HOW_TO_ALLOW =
  "run it in a terminal to be asked, give --allow '{rule}', put the rule under permissions.allow in bridle.json, or give --park to have it wait for an answer";

/** Sortable by time, to the millisecond, and unique: `20261130-142301-507-9f2c`. */
export function runId(now = new Date()): string {
  const [day = '', time = ''] = now.toISOString().split('T');
  const [clock = '', fraction = ''] = time.replace('Z', '').split('.');
  return [day.replaceAll('-', ''), clock.replaceAll(':', ''), fraction, randomBytes(2).toString('hex')].join('-');
}

function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}

function seconds(value: number | undefined): number | undefined {
  return value === undefined ? undefined : value * 1000;
}

/** What the model is told: the agent's own instructions, where it has some. */
export function systemFor(root: string, agent?: Pick<AgentFile, 'instructions'>): string {
  if (agent && agent.instructions !== '') return `${agent.instructions}\n\nYou work in the folder ${root}.`;
  return `You help a person at a terminal, in the folder ${root}. Use the tools you have. When a fact that you need is missing, ask for it.`;
}

export interface ChosenModel {
  readonly model: Model;
  /** Said on the command line, so that no agent's file changes it. */
  readonly isFlag: boolean;
  /** Nobody chose one. */
  readonly isDefault: boolean;
}

/**
 * The model of `--model`, else of the environment, else the offline one; known before anything is asked or started.
 *
 * @param was the one that a run goes on with
 */
export async function chosenModel(parsed: ParsedCommand, io: CommandIo, was?: string): Promise<ChosenModel> {
  const said = stringOption(parsed, 'model') ?? was;
  const spec = said ?? (io.env.BRIDLE_MODEL || undefined);
  return { model: await resolveModel(spec ?? 'offline'), isFlag: said !== undefined, isDefault: spec === undefined };
}

/** The model that an agent's file names, unless the command line named one. */
export async function modelFor(agent: AgentFile | undefined, chosen: ChosenModel): Promise<ChosenModel> {
  if (chosen.isFlag || agent?.model === undefined) return chosen;
  try {
    return { model: await resolveModel(agent.model), isFlag: false, isDefault: false };
  } catch (error) {
    if (!isBridleError(error)) throw error;
    const { code, message, hint = '' } = error;
    throw new BridleError(code, `The agent "${printable(agent.name)}" names a model. ${message}`, {
      cause: error,
      hint: `${hint} Or give another one with --model.`.trim(),
    });
  }
}

/** How the command line spells the limits of a run. */
const LIMIT_OPTIONS: ReadonlyMap<string, string> = new Map([
  ['turns', '--max-turns'],
  ['ms', '--max-seconds'],
  ['tokens', '--max-tokens'],
  ['costUsd', '--max-cost'],
]);

/** An agent without tools is of little use, and the mode that hides them is easily forgotten. */
export function hiddenByPlan({ compiled, sources }: Workspace, agent: Agent): readonly Reason[] {
  if (compiled.mode !== 'plan' || sources.length === 0 || agent.tools().length > 0) return [];
  const text =
    "Plan mode hides every tool here: it shows only those that are known to read. A server's own word for that counts " +
    'once its entry says "trust": true.';
  return [{ room: 'cli', code: 'plan_hides_all', text }];
}

function print(result: RunResult, trace: Trace, parsed: ParsedCommand, io: CommandIo): void {
  const style = styleFor(io.stderr, io.env);
  if (flag(parsed, 'json')) {
    printJson(io, { ...result, trace: trace.path });
  } else if (result.text !== '') {
    io.stdout.write(`${printable(result.text, { newlines: true })}\n`);
    for (const line of optionLines(result)) io.stdout.write(`${line}\n`);
  }
  if (result.error) {
    io.stderr.write(
      `${style.red(`error (${printable(result.error.code)}):`)} ${printable(result.error.message, { newlines: true })}\n`,
    );
    if (result.error.hint) io.stderr.write(`  ${printable(result.error.hint, { newlines: true })}\n`);
  } else if (result.end !== 'answered' && result.end !== 'asked') {
    io.stderr.write(
      `${style.yellow(`ended: ${result.end}`)}${result.handoff ? `: ${printable(result.handoff.message)}` : ''}\n`,
    );
    const option = LIMIT_OPTIONS.get(result.handoff?.reason ?? '');
    if (option !== undefined) io.stderr.write(`  On the command line that is ${option}.\n`);
  }
  if (flag(parsed, 'report')) io.stderr.write(reportText(result));
  if (flag(parsed, 'quiet')) return;
  const { usage, turns, calls } = result;
  const cost = usage.costUsd ? `, $${usage.costUsd.toFixed(4)}` : '';
  const tokens = usage.inputTokens + usage.outputTokens;
  io.stderr.write(
    style.dim(
      `${counted(turns, 'turn')}, ${counted(calls, 'call')}, ${tokens} tokens${cost}; trace: bridle trace show ${runOf(trace)}\n`,
    ),
  );
  if (trace.lost() > 0) io.stderr.write(style.yellow(`${trace.lost()} lines of the trace could not be written\n`));
}

/** The answers to choose from that came with a question, numbered. */
export function optionLines({ options = [] }: Pick<RunResult, 'options'>): readonly string[] {
  return options.map((option, at) => `  ${at + 1}. ${printable(option)}`);
}

function runOf(trace: Trace): string {
  return trace.path.replace(/^.*[/\\]/, '').replace(/\.jsonl$/, '');
}
