/**
 * Rule of this file: the loop is a fold. `step` is pure: what a run does next follows from its events alone, and
 * whatever touches the world is an effect that the shell performs.
 */
import type { Json, LoopEvent, Step } from '../contracts/index.ts';
import { isObject, isStringList, textOf } from './blocks.ts';
import { beginCalls, onOutcome } from './calls.ts';
import { containerAfter } from './container.ts';
import { loadCalled, withEarlierTools } from './deferred-tools.ts';
import { endingOf, finish, leave, type Next, still } from './finish.ts';
import { reached } from './limits.ts';
import { limitReached, request } from './request.ts';
import { instructedInput } from './request-choice.ts';
import { onResume } from './resume/resume-step.ts';
import { replyCost } from './run-report.ts';
import type { Ending, LoopState, LoopTool } from './state.ts';
import { judge, nothingToResume } from './stop.ts';
import { onChecked, toCheck } from './structured-output.ts';
import { awaitsReply } from './system-note.ts';
import { addInput, addReply, resumeTurn, unanswered } from './transcript.ts';
import { withGone } from './tool-changes.ts';
import type { MemberOf } from './toolsets.ts';
import { addUsage } from './usage.ts';

type Of<T extends LoopEvent['type']> = Extract<LoopEvent, { readonly type: T }>;

/**
 * One event of a run.
 *
 * An event that doesn't fit the state (a reply nobody waits for, a second outcome of a call, anything after the end)
 * changes nothing: a late answer is not an error.
 */
export const step: Step<LoopState> = (state, event) => {
  if (state.end !== null) return still(state);
  switch (event.type) {
    case 'input':
      return onInput(state, event);
    case 'model':
      return onReply(state, event);
    case 'begin':
    case 'intent':
      // A call counts as begun from the effect on; these are there for whoever resumes from the log.
      return still(state);
    case 'resume':
      return onResume(state, event);
    case 'outcome':
      return onOutcome(state, event);
    case 'checked':
      return onChecked(state, event);
    case 'limit':
    case 'abort':
      return onStop(state, endingOf(event));
    case 'edit':
      return still(onEdit(state, event.detail));
    default:
      return unreachable(event);
  }
};

function onInput(state: LoopState, event: Of<'input'>): Next {
  if (state.waitingFor !== 'input' || state.transcript.state !== 'ready') return still(state);
  const input = instructedInput(state, event.content);
  const transcript = addInput(state.transcript, input.content);
  if (!awaitsReply(transcript.messages)) {
    return finish(state, {
      how: 'failed',
      reason: 'input_empty',
      message: 'There is nothing to do: the input is empty.',
    });
  }
  const notes = event.note === undefined ? state.notes : [...state.notes, event.note];
  return request(withEarlierTools({ ...input.state, transcript, notes, startedAt: event.at }), event.at);
}

function onReply(state: LoopState, event: Of<'model'>): Next {
  if (state.waitingFor !== 'model' || state.transcript.state !== 'ready') return still(state);
  const { config } = state;
  const content = isObject(event.message) ? event.message.content : undefined;
  const usage = addUsage(state.usage, event.usage, config.costOf);
  const answered = withCost(state, event.usage);
  if (!Array.isArray(content)) {
    const message = 'The model gave no Messages API message: its content is not a list of blocks.';
    return finish({ ...state, usage, answered }, { how: 'failed', reason: 'model_reply_malformed', message });
  }
  const transcript = addReply(state.transcript, content);
  const said = textOf(content);
  const heard: LoopState = {
    ...state,
    usage,
    answered,
    text: said === '' ? state.text : said,
    stop: stopOf(event),
    container: containerAfter(state.container, event.message),
  };
  const verdict = judge(event.stopReason, transcript.state === 'open', isMarkedAsked(event.message));
  switch (verdict.next) {
    case 'run_calls': {
      const [turns, planned] = [state.turns + 1, state.planned + 1];
      const turn = { ...heard, transcript, turns, planned, pauses: 0, cut: null };
      const limit = limitReached(turn, event.at);
      if (limit !== null) return finish(turn, { how: 'limit', reason: limit.limit, message: limit.message });
      return beginCalls(loadCalled(turn, unanswered(transcript)), event.at);
    }
    case 'send_back': {
      const paused = transcript.state === 'ready' && transcript !== state.transcript ? resumeTurn(transcript) : null;
      if (paused === null) {
        const turn = { ...heard, transcript, turns: state.turns + 1, cut: null, text: said };
        return finish(turn, { how: 'failed', ...nothingToResume(event.stopReason) });
      }
      const turn = { ...heard, transcript: paused, turns: state.turns + 1, pauses: state.pauses + 1, cut: null };
      if (turn.pauses > config.limits.pauses) {
        const limit = reached('pauses', config.limits.pauses);
        return finish(turn, { how: 'limit', reason: limit.limit, message: limit.message });
      }
      return request(turn, event.at);
    }
    case 'ask_again':
      if (state.cut === null && config.maxTokensRetry > config.maxTokens) {
        return request({ ...heard, cut: content }, event.at);
      }
      return finish({ ...heard, transcript, turns: state.turns + 1, cut: null }, TRUNCATED);
    case 'end': {
      // What an earlier reply said isn't this one's answer.
      const turn = { ...heard, transcript, turns: state.turns + 1, cut: null, text: said };
      if (verdict.error !== undefined) {
        return finish(turn, { how: verdict.how, reason: verdict.error.code, message: verdict.error.message });
      }
      if (verdict.how === 'answered' && config.output !== undefined) return toCheck(turn);
      return finish(turn, { how: verdict.how, reason: event.stopReason, message: '' });
    }
    default:
      return unreachable(verdict);
  }
}

function withCost({ asked, answered, config }: LoopState, usage: Json): LoopState['answered'] {
  if (asked === null) return answered;
  return [...answered, { size: asked, cost: replyCost(answered.at(-1), asked, usage, config.costOf) }];
}

function stopOf({ message, stopReason }: Of<'model'>): LoopState['stop'] {
  const details = isObject(message) ? message.stop_details : null;
  return { reason: stopReason, ...(details !== undefined && details !== null && { details }) };
}

const TRUNCATED: Ending = { how: 'truncated', reason: 'max_tokens', message: 'The reply did not fit.' };

function onStop(state: LoopState, ending: Ending): Next {
  if (
    state.waitingFor === 'model' &&
    state.cut !== null &&
    ending.how === 'failed' &&
    state.transcript.state === 'ready'
  ) {
    // The second, longer try was refused: what there is of the first one is the end.
    return finish({ ...state, transcript: addReply(state.transcript, state.cut), turns: state.turns + 1 }, TRUNCATED);
  }
  if (state.running.length === 0) return finish(state, ending);
  // The caller's word is the last one; whatever else stopped the run gives way to what stops it now.
  const stopping = state.stopping?.how === 'aborted' ? state.stopping : ending;
  return still({ ...leave({ ...state, todo: [] }, state.todo, stopping), stopping });
}

function onEdit(state: LoopState, detail: Json): LoopState {
  const added = isObject(detail) && Array.isArray(detail.tools) ? detail.tools.flatMap((tool) => readTool(tool)) : [];
  const gone = isObject(detail) && isStringList(detail.gone) ? detail.gone : [];
  const now = withGone(
    state,
    gone,
    added.map(({ name }) => name),
  );
  const known = new Set([...now.tools, ...now.addedTools].map((tool) => tool.name));
  const fresh = added.filter((tool) => !known.has(tool.name));
  const notes = isObject(detail) && typeof detail.note === 'string' ? [detail.note] : [];
  return { ...now, addedTools: [...now.addedTools, ...fresh], notes: [...now.notes, ...notes] };
}

function readTool(value: Json): LoopTool[] {
  if (!isObject(value) || typeof value.name !== 'string' || value.entry === undefined) return [];
  const effect = value.effect === 'read' || value.effect === 'idempotent' ? value.effect : 'write';
  const sideBySide = typeof value.sideBySide === 'boolean' ? { sideBySide: value.sideBySide } : {};
  const toolset = isObject(value.toolset) ? { toolset: value.toolset as unknown as MemberOf } : {};
  const deferred = value.deferred === true ? { deferred: true } : {};
  return [{ name: value.name, entry: value.entry, effect, ...sideBySide, ...deferred, ...toolset }];
}

/** A reply may say outside its text that it is a question: `bridle: {asked: true}` beside the Messages API's fields. */
function isMarkedAsked(message: Json): boolean {
  return isObject(message) && isObject(message.bridle) && message.bridle.asked === true;
}

function unreachable(value: never): never {
  throw new Error(`Unhandled: ${JSON.stringify(value)}`);
}
