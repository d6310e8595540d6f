import type { Json, JsonObject } from '../contracts/index.ts';
import { harnessNote } from '../tools/index.ts';
import { contentBlocks, isBlank, isObject } from './blocks.ts';
import type { ChoicePlan } from './choice-plan.ts';
import type { RequestPart } from './request.ts';
import type { LoopState } from './state.ts';

/**
 * `tool_choice` of this turn, as the plan has it. A turn lasts until it is answered: a reply that is sent back, or asked
 * for with more room, is of the same turn. What this very request can't hold is left to the model.
 */
export const choicePart: RequestPart = (state, body) => {
  const choice = turnOf(state)?.tool_choice;
  const tools = Array.isArray(body.tools) ? body.tools : [];
  if (choice === undefined || tools.length === 0) return body;
  const there = tools.filter((tool) => !(isObject(tool) && state.gone.includes(String(tool.name))));
  return { ...body, tool_choice: fitted(choice, there, body) };
};

function turnOf({ config, planned, turns }: LoopState): ChoicePlan['after'] | undefined {
  const { choice, limits } = config;
  if (choice?.last !== undefined && turns + 1 >= limits.turns) return choice.last;
  return choice?.first[planned] ?? choice?.after;
}

/** Tools come and go during a run, and other parts of a request forbid a forced call: one that is refused ends the run. */
function fitted(choice: JsonObject, tools: readonly Json[], body: JsonObject): JsonObject {
  const { disable_parallel_tool_use: single, ...rest } = choice;
  const isProgrammatic = tools.some(
    (tool) =>
      isObject(tool) &&
      Array.isArray(tool.allowed_callers) &&
      tool.allowed_callers.some((caller) => caller !== 'direct'),
  );
  const named = rest.type === 'tool' && !tools.some((tool) => isObject(tool) && tool.name === rest.name);
  const forced = rest.type === 'any' || rest.type === 'tool';
  const free = named || (forced && (body.max_tokens === 0 || isObject(body.compaction)));
  return {
    ...(free ? { type: 'auto' } : rest),
    ...(single !== undefined && !isProgrammatic && { disable_parallel_tool_use: single }),
  };
}

/** What the model is told on this turn in place of a forced call, where that wasn't said yet. */
function instructionNow({ config, planned, instructed }: LoopState): string | undefined {
  // Whatever the limit of turns is: who reads a journal back without limits has to find the same words.
  return instructed > planned ? undefined : (config.choice?.first[planned] ?? config.choice?.after)?.instruction;
}

/** A run before its input, with what goes in with that: on its first turn the model is told beside the user's words. */
export function instructedInput(
  state: LoopState,
  content: Json,
): { readonly state: LoopState; readonly content: Json } {
  const instruction = instructionNow(state);
  const said = contentBlocks(content).filter((block) => !isBlank(block));
  if (instruction === undefined || said.length === 0) return { state, content };
  return {
    state: { ...state, instructed: state.planned + 1 },
    content: [...said, { type: 'text', text: instruction }],
  };
}

/** On a later turn it is a note: what stands before the request then are results, which are no place for it. */
export function withInstruction(state: LoopState): LoopState {
  const instruction = instructionNow(state);
  if (instruction === undefined) return state;
  return { ...state, instructed: state.planned + 1, notes: [...state.notes, harnessNote(instruction)] };
}
