/**
 * Rule of this file: it plays a history on the loop's own fold, and whatever the loop does is held to what must always
 * be so: each request is one that the Messages API takes, and no call is given out after a stop, or twice.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { loopContext } from '../../src/agent/context.ts';
import { effectiveLimits } from '../../src/agent/limits.ts';
import { configOfJournal, journalConfig } from '../../src/agent/resume/journal-config.ts';
import { LOST } from '../../src/agent/resume/open-calls.ts';
import { siblingRules } from '../../src/agent/siblings.ts';
import { initialState, type LoopConfig, type LoopState, type LoopTool } from '../../src/agent/state.ts';
import { step } from '../../src/agent/step.ts';
import { noteRoleOf } from '../../src/agent/system-note.ts';
import { toldAsGone } from '../../src/agent/tool-changes.ts';
import type { ReadyTranscript } from '../../src/agent/transcript.ts';
import type { Json, JsonObject, LoopEvent, Outcome } from '../../src/contracts/index.ts';
import { withCacheMarks } from '../../src/models/cache-marks.ts';
import { checkMessagesRequest } from '../../src/testing/index.ts';
import { harnessNote, rawFrom } from '../../src/tools/index.ts';
import type { Action, RunPlan, Settings } from './generate.ts';
import { modelEvent, type Provider } from './replies.ts';

/** What differs between these is what the loop must heed: notes, forcing, code, what may end a request. */
export const MODELS = [
  { id: 'claude-opus-5-5', forces: false, runsCode: true },
  { id: 'claude-sonnet-4-5', forces: true, runsCode: true },
  { id: 'claude-fable-5-1', forces: false, runsCode: true },
  { id: 'claude-haiku-4-5-20251001', forces: true, runsCode: false },
] as const;

export type PlayedModel = (typeof MODELS)[number];

function tool(name: string, effect: LoopTool['effect'], more: JsonObject = {}): LoopTool {
  return { name, effect, entry: { name, description: name, input_schema: { type: 'object' }, ...more } };
}

function deferredTool(name: string): LoopTool {
  return { ...tool(name, 'read', { defer_loading: true }), deferred: true };
}

/** Of a toolset in which the third member isn't offered. */
function member(name: string, effect: LoopTool['effect']): LoopTool {
  const toolset = { name: 'computer', member: name, members: ['left_click', 'screenshot', 'type'] };
  return { name: `computer__${name}`, effect, entry: { type: 'computer_toolset_20260801' }, toolset };
}

export function configOf(settings: Settings, model: PlayedModel): LoopConfig {
  const { context, keepRuns, search, limits, identicalFailures, parallel, siblings } = settings;
  const code = model.runsCode ? { allowed_callers: ['direct', 'code_execution_20260120'] } : {};
  const provided = (name: string, type: string, named: JsonObject = { name }): LoopTool[] => [
    { name, effect: 'write', entry: { type, ...named } },
  ];
  return {
    tools: [
      tool('read', 'read', code),
      tool('look', 'read'),
      { ...tool('wide', 'write'), sideBySide: true },
      tool('write', 'write'),
      ...provided('web_search', 'web_search_20250305'),
      member('left_click', 'write'),
      member('screenshot', 'read'),
      deferredTool('hidden'),
      deferredTool('buried'),
      ...(search === 'none' ? [] : [tool('find_tools', 'read')]),
      ...(model.runsCode ? provided('code_execution', 'code_execution_20260120') : []),
    ],
    limits: effectiveLimits({ ...limits, identicalFailures }),
    maxTokens: 100,
    maxTokensRetry: 400,
    parallel,
    siblings: siblingRules(siblings),
    noteRole: noteRoleOf(model.id),
    ...(noteRoleOf(model.id) === 'system' && { toolChanges: true }),
    ...(search !== 'none' && { search: { tool: 'find_tools', references: search === 'references' } }),
    ...(settings.canAsk && { askTool: 'ask_user' }),
    ...(settings.forces && model.forces && { toolChoice: { type: 'any' } }),
    ...(context === 'trim' && { context: loopContext({ keepRuns }) }),
    ...(context === 'edit' && { context: loopContext({ clearResults: true }) }),
    ...(context === 'compact' && { context: loopContext({ compact: true }) }),
  };
}

/** What a run has shown, over all its steps. */
export interface Seen {
  readonly requests: Json[];
  readonly given: string[];
  readonly ends: string[];
  crashes: number;
}

export function inputOf(plan: RunPlan['input'], mayBeNothing: boolean): Json {
  const text = { type: 'text', text: 'Read it.' };
  if (plan === 'document') {
    return [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } }, text];
  }
  return plan === 'nothing' && mayBeNothing ? [] : 'Do it.';
}

interface Stage {
  readonly config: LoopConfig;
  readonly transcript: ReadyTranscript;
  readonly model: PlayedModel;
  readonly provider: Provider;
}

/** A run from its input to its end: first as the actions say, then as quickly as it can. */
export function playRun(stage: Stage, input: Json, actions: readonly Action[], seen: Seen): LoopState {
  const { model, provider } = stage;
  const journal: LoopEvent[] = [];
  let state = initialState(stage.config, stage.transcript);
  let at = 1_000;
  let isStopped = false;
  const first = seen.requests.length;
  const feed = (event: LoopEvent) => {
    isStopped ||= event.type === 'limit' || event.type === 'abort';
    journal.push(event);
    const next = step(state, event);
    for (const effect of next.effects) {
      if (effect.type === 'model') {
        checkRequest(effect.request, model, provider, seen);
        const [before, now] = seen.requests.slice(first).slice(-2);
        if (toldOfTools(stage.config) && now !== undefined) checkSameTools(now as JsonObject, before);
        if (next.state.pauses === 0 && state.transcript.unfinished.length === 0)
          checkToldAsThere(next.state, effect.request);
        if (next.state.pauses > 0) checkSentBack(effect.request, seen.requests.at(-2));
        // Results never cost the provider's calls that are under way beside them.
        if (event.type === 'outcome') expect(next.state.transcript.unfinished).toEqual(state.transcript.unfinished);
      }
      if (effect.type === 'call') {
        expect(isStopped).toBe(false);
        if (event.type !== 'resume') seen.given.push(effect.callId);
      }
      if (effect.type === 'end') seen.ends.push(effect.how);
    }
    state = next.state;
    at += 1;
  };
  feed({ v: 1, at, type: 'input', content: input });
  for (const action of actions) {
    if (action.do !== 'crash') feed(eventOf(state, action, at, provider));
    else if (state.end === null && state.startedAt !== null) {
      seen.crashes += 1;
      state = folded(stage, journal, state);
      const again = state.stopping === null ? state.running.filter((_, bit) => (action.again >> bit) % 2 === 1) : [];
      const lost = state.running.filter((call) => !again.includes(call));
      feed({ v: 1, at, type: 'resume', idleMs: 1, again: again.map(({ id }) => id) });
      for (const { id } of lost) feed({ v: 1, at, type: 'outcome', callId: id, outcome: LOST });
    }
  }
  for (let left = 200; state.end === null && left > 0; left -= 1) {
    const [running] = state.running;
    if (running !== undefined) feed({ v: 1, at, type: 'outcome', callId: running.id, outcome: LATE });
    else feed(modelEvent({ role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }, 'end_turn', at));
  }
  return state;
}

/** What a search gives: some of what is there, of what came, and of what isn't; or nothing. */
function found(which: number): Outcome {
  const names = ['hidden', 'buried', 'late', 'gone'].filter((_, bit) => (which >> bit) % 2 === 1);
  const content = [{ type: 'text', text: 'Found.' }];
  const raw = rawFrom({ content, ...(names.length > 0 && { structuredContent: { tools: names } }) });
  return { kind: 'ok', raw, isError: false, content: 'Found.' };
}

const LATE: Outcome = { kind: 'ok', raw: rawFrom({ content: [] }), isError: false, content: 'late' };

function checkRequest(request: Json, model: PlayedModel, provider: Provider, seen: Seen): void {
  const body: JsonObject = { ...(request as JsonObject), model: model.id };
  // As it leaves for a Claude model.
  expect(checkMessagesRequest(withCacheMarks(body))).toEqual([]);
  seen.requests.push(body);
  checkWaiting(body.messages as JsonObject[]);
  for (const message of body.messages as JsonObject[]) {
    const blocks = blocksOf(message);
    for (const block of blocks) {
      if (block.type === 'thinking') expect(provider.signed.has(JSON.stringify(block))).toBe(true);
    }
    // What the harness says stands never beside results.
    const results = blocks.filter(({ type }) => type === 'tool_result').length;
    if (results > 0) expect(results).toBe(blocks.length);
  }
}

/** Whether what comes during the run is told in messages: not for a model that is shown its tools by more of them. */
function toldOfTools({ toolChanges, search }: LoopConfig): boolean {
  return toolChanges === true && search?.references !== false;
}

/**
 * Tools at the beginning of the prompt stay as they were in the request before: what is cached begins with them, and
 * thinking is bound to them. What the provider summed up begins anew with the summary.
 */
function checkSameTools(body: JsonObject, before: Json | undefined): void {
  const messages = body.messages as JsonObject[];
  if (before === undefined || messages.flatMap(blocksOf).some(({ type }) => type === 'compaction')) return;
  expect(wholeTools(body)).toEqual(wholeTools(before as JsonObject));
}

/** What the model has before it and may call isn't told of as gone. */
function checkToldAsThere({ config, tools, gone, loaded }: LoopState, request: Json): void {
  const { messages } = request as { messages: Json[] };
  const isOffered = ({ name, deferred, toolset }: LoopTool) =>
    toolset === undefined && (deferred !== true || loaded.includes(name)) && !gone.includes(name);
  const offered = tools.filter(isOffered).map(({ name }) => name);
  if (config.toolChanges === true) expect(toldAsGone(messages).filter((name) => offered.includes(name))).toEqual([]);
}

function wholeTools({ tools }: JsonObject): Json[] {
  return ((tools ?? []) as JsonObject[]).filter(({ defer_loading: deferred }) => deferred !== true);
}

/** A paused turn goes back as the last that was said, with the tools that it had. */
function checkSentBack(request: Json, before: Json | undefined): void {
  const { messages, tools } = request as { messages: JsonObject[]; tools: Json };
  expect(messages.at(-1)?.role).toBe('assistant');
  expect(tools).toEqual((before as JsonObject).tools);
}

/** The messages behind the last reply in which code or the provider waits for results hold nothing else. */
function checkWaiting(messages: readonly JsonObject[]): void {
  const at = messages.findLastIndex(({ role }) => role === 'assistant');
  const blocks = blocksOf(messages[at]);
  const answered = new Set(blocks.map(({ tool_use_id: id }) => id));
  const isWaiting = blocks.some(
    ({ type, id, caller }) =>
      (type === 'server_tool_use' && !answered.has(id)) ||
      (type === 'tool_use' && (caller as JsonObject | undefined)?.tool_id !== undefined),
  );
  if (!isWaiting) return;
  const after = messages.slice(at + 1);
  expect(after.flatMap(blocksOf).filter(({ type }) => type !== 'tool_result')).toEqual([]);
  expect(after.every(({ content }) => Array.isArray(content))).toBe(true);
}

function blocksOf(message: JsonObject | undefined): JsonObject[] {
  return Array.isArray(message?.content) ? (message.content as JsonObject[]) : [];
}

/** The state as another process has it from the journal: the events alone say where the run is. */
function folded({ config, transcript }: Stage, journal: readonly LoopEvent[], before: LoopState): LoopState {
  const kept = configOfJournal(JSON.parse(JSON.stringify(journalConfig(config))) as Json, config).config;
  const state = journal.reduce((now, event) => step(now, event).state, initialState(kept, transcript));
  expect(isDeepStrictEqual({ ...state, config }, { ...before, config })).toBe(true);
  return state;
}

function eventOf(
  state: LoopState,
  action: Exclude<Action, { do: 'crash' }>,
  at: number,
  provider: Provider,
): LoopEvent {
  switch (action.do) {
    case 'next': {
      const running = state.running[action.which % Math.max(1, state.running.length)];
      if (running !== undefined) {
        const { outcome } = action;
        const searched = running.name === 'find_tools' && outcome.kind === 'ok' && !outcome.isError;
        return { v: 1, at, type: 'outcome', callId: running.id, outcome: searched ? found(action.which) : outcome };
      }
      return provider.reply(action, state.transcript.unfinished, at);
    }
    case 'stray_reply': {
      const isWaiting = state.waitingFor === 'model';
      const content = isWaiting ? [] : [{ type: 'text', text: 'Late.' }];
      return modelEvent({ role: 'assistant', content }, isWaiting ? 'pause_turn' : 'end_turn', at);
    }
    case 'malformed':
      return modelEvent('hello', 'end_turn', at);
    case 'stray':
      return { v: 1, at, type: 'outcome', callId: 'a', outcome: action.outcome };
    case 'tool_comes': {
      const { name, effect, entry } = action.deferred ? deferredTool(action.name) : tool(action.name, 'read');
      const deferred = action.deferred ? { deferred: true } : {};
      return { v: 1, at, type: 'edit', detail: { tools: [{ name, effect, entry, ...deferred }] } };
    }
    case 'tool_goes':
      return { v: 1, at, type: 'edit', detail: { tools: [], gone: [action.name] } };
    case 'note':
      return { v: 1, at, type: 'edit', detail: { note: harnessNote(`it is ${at}.`) } };
    case 'limit':
      return { v: 1, at, type: 'limit', detail: { limit: 'ms', message: 'Too long.' } };
    case 'abort':
      return { v: 1, at, type: 'abort', detail: { by: 'caller', message: 'Stop.' } };
    case 'model_failed':
      return { v: 1, at, type: 'abort', detail: { by: 'model', code: 'down', message: 'Down.' } };
  }
}
