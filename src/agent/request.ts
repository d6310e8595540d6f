import type { Json } from '../contracts/index.ts';
import { finish, type Next } from './finish.ts';
import { type Reached, reachedLimit } from './limits.ts';
import type { LoopState } from './state.ts';
import { addNote } from './transcript.ts';

/** The next request, unless a limit forbids it. */
export function request(state: LoopState, at: number): Next {
  const { config, transcript } = state;
  const limit = limitReached(state, at);
  if (limit !== null) return finish(state, { how: 'limit', reason: limit.limit, message: limit.message });
  // While the provider's own calls are under way, and for a reply that is sent back, the tools stay as they were.
  const mayChange = transcript.unfinished.length === 0 && state.pauses === 0;
  const tools = mayChange ? [...state.tools, ...state.addedTools] : state.tools;
  const noted = mayChange && transcript.state === 'ready' ? state.notes.reduce(addNote, transcript) : transcript;
  const body: Json = {
    max_tokens: state.cut === null ? config.maxTokens : config.maxTokensRetry,
    ...(config.system !== undefined && { system: config.system }),
    messages: [...noted.messages],
    ...(tools.length > 0 && { tools: tools.map((tool) => tool.entry) }),
    ...(config.toolChoice !== undefined && state.turns === 0 && tools.length > 0 && { tool_choice: config.toolChoice }),
  };
  return {
    state: {
      ...state,
      tools,
      transcript: noted,
      addedTools: mayChange ? [] : state.addedTools,
      notes: mayChange ? [] : state.notes,
      waitingFor: 'model',
    },
    effects: [{ type: 'model', request: body }],
  };
}

/** The limit that forbids another request, or null. */
export function limitReached({ config, turns, usage, startedAt }: LoopState, at: number): Reached | null {
  return reachedLimit(config.limits, { turns, usage, ms: at - (startedAt ?? at) });
}
