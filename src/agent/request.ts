import type { JsonObject } from '../contracts/index.ts';
import { liveContainer } from './container.ts';
import { finish, type Next } from './finish.ts';
import { type Reached, reachedLimit } from './limits.ts';
import { advisorPart } from './request-advisor.ts';
import { tooLarge } from './request-bounds.ts';
import { choicePart, withInstruction } from './request-choice.ts';
import { containerPart } from './request-container.ts';
import { outputPart } from './request-output.ts';
import { contextPart } from './request-context.ts';
import { leavesOutDeferred, withLoaded } from './found-tools.ts';
import { changesPart } from './request-changes.ts';
import { referencesPart } from './request-references.ts';
import { requestSize } from './request-size.ts';
import { toolsPart } from './request-tools.ts';
import { sentMessages } from './sent-messages.ts';
import type { LoopState } from './state.ts';
import { changesNow, toldOfTools, withToolChanges } from './tool-changes.ts';
import { addNote } from './transcript.ts';

/**
 * What one feature adds to the body of a request: pure, each in a file of its own. It sees the state as it will be
 * once the request is out, and leaves alone what it doesn't know.
 */
export type RequestPart = (state: LoopState, body: JsonObject) => JsonObject;

/** In this order; a later one sees what the earlier ones made. The choice is last: the others may forbid a forced call. */
const PARTS: readonly RequestPart[] = [
  toolsPart,
  referencesPart,
  changesPart,
  advisorPart,
  contextPart,
  containerPart,
  outputPart,
  choicePart,
];

/** The next request, unless a limit forbids it. */
export function request(state: LoopState, at: number): Next {
  const limit = limitReached(state, at);
  if (limit !== null) return finish(state, { how: 'limit', reason: limit.limit, message: limit.message });
  const told = withNews(withInstruction(state));
  const now: LoopState = { ...told, waitingFor: 'model', container: liveContainer(state.container, at) };
  const { config } = now;
  const body: JsonObject = {
    max_tokens: now.cut === null ? config.maxTokens : config.maxTokensRetry,
    ...(config.system !== undefined && { system: config.system }),
    messages: [...sentMessages(now)],
  };
  const whole = PARTS.reduce((made, part) => part(now, made), body);
  const asked = requestSize(whole);
  const large = tooLarge(whole, asked);
  if (large !== null) return finish(now, large);
  return { state: { ...now, asked }, effects: [{ type: 'model', request: whole }] };
}

/**
 * Takes up notes, and tools that have come. While the provider's own calls are under way, and for a reply that is sent
 * back, all stays as it was.
 */
function withNews(state: LoopState): LoopState {
  const { transcript } = state;
  if (transcript.state !== 'ready' || transcript.unfinished.length > 0 || state.pauses > 0) return state;
  const { config, loading, found } = state;
  const tools = state.addedTools.length === 0 ? state.tools : [...state.tools, ...state.addedTools];
  const now: LoopState = {
    ...state,
    tools: leavesOutDeferred(config) ? withLoaded(tools, [...loading, ...found]) : tools,
    transcript: state.notes.reduce(
      (noted, note) => addNote(noted, note, config.noteRole),
      withToolChanges(transcript, changesNow(state)),
    ),
    loaded: loading.length === 0 ? state.loaded : [...state.loaded, ...loading],
    loading: [],
    found: [],
    addedTools: [],
    changes: [],
    notes: [],
  };
  return config.toolChanges === true ? { ...now, told: toldOfTools(sentMessages(now)) } : now;
}

/** The limit that forbids another request, or null. */
export function limitReached({ config, turns, usage, startedAt }: LoopState, at: number): Reached | null {
  return reachedLimit(config.limits, { turns, usage, ms: at - (startedAt ?? at) });
}
