import type { Json, Outcome } from '../../contracts/index.ts';
import { BridleError, harnessNote, printable } from '../../tools/index.ts';
import { readMessages } from '../read-messages.ts';
import { replay } from '../replay.ts';
import { undeferred } from '../deferred-entry.ts';
import { initialState, type LoopConfig, type LoopState, type LoopTool } from '../state.ts';
import { step } from '../step.ts';
import { configOfJournal, type ToolChange } from './journal-config.ts';
import { type Fate, fateOf } from './open-calls.ts';
import type { RunSegment } from './run-segment.ts';

/** A run that broke off, as its journal tells it. */
export interface OpenRun {
  /** With the tools and the functions that are there now. */
  readonly state: LoopState;
  /** The calls that were given out and haven't come back, in source order, and what becomes of each. */
  readonly open: readonly { readonly callId: string; readonly name: string; readonly fate: Fate }[];
  /** For the model: what is otherwise than it was. */
  readonly note: string | null;
}

/** The messages that a run began from. */
export async function messagesBefore({ begun, earlier }: RunSegment): Promise<readonly Json[]> {
  if (begun?.before === undefined) return (await replay(earlier)).messages;
  return Array.isArray(begun.before) ? begun.before : [];
}

/**
 * Folds what happened in a run, with what was fixed for it then.
 *
 * @param before the messages that it began from
 * @param live what the agent would begin a run with
 * @throws BridleError `messages_invalid`, `journal_damaged`
 */
export function openRun(segment: RunSegment, before: readonly Json[], live: LoopConfig): OpenRun {
  const transcript = readMessages(before);
  if ('problem' in transcript) {
    throw new BridleError('messages_invalid', `This journal gives no conversation: ${transcript.problem}.`, {
      hint: 'Its file was changed, or is of another version: begin a new conversation.',
    });
  }
  const { config, changes } = configOfJournal(segment.begun?.config ?? null, live);
  let state = initialState(config, transcript);
  for (const event of segment.events) state = step(state, event).state;
  checkWhole(segment, state);
  const isStopping = state.stopping !== null;
  return {
    state: withLiveTools(state, live.tools),
    open: state.running.map((call) => ({
      callId: call.id,
      name: call.name,
      fate: fateOf(call, segment.records.get(call.id) ?? {}, isStopping),
    })),
    note: changesNote(changes),
  };
}

/** Outcomes that the loop has, with what was called, in order. */
export function* outcomesOf({
  events,
}: RunSegment): Iterable<{ readonly callId: string; readonly name: string; readonly outcome: Outcome }> {
  const names = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'intent') names.set(event.callId, event.name);
    if (event.type === 'outcome') {
      yield { callId: event.callId, name: names.get(event.callId) ?? '', outcome: event.outcome };
    }
  }
}

/** A write that the conversation doesn't know of may be one that would be made a second time. */
function checkWhole({ records, begun }: RunSegment, state: LoopState): void {
  for (const [id, { decided }] of records) {
    if (!decided || decided.intent.effect === 'read') continue;
    if (begun !== undefined && decided.intent.conversation !== begun.conversation) continue;
    if (state.transcript.ids.has(id)) continue;
    throw new BridleError(
      'journal_damaged',
      `This journal can't be resumed from: it tells of a call, ${printable(id, { maxLength: 80 })}, that stands in none of its replies.`,
      { hint: 'Lines of it are missing. See what it did with: bridle trace show. Then begin anew.' },
    );
  }
}

function withLiveTools(state: LoopState, live: readonly LoopTool[]): LoopState {
  const now = new Map(live.map((tool) => [tool.name, tool]));
  const there = (tools: readonly LoopTool[]) =>
    tools.flatMap(({ name, deferred }) => {
      const tool = now.get(name);
      if (tool === undefined) return [];
      // What was found in the run stays loaded.
      return [tool.deferred === true && deferred !== true ? undeferred(tool) : tool];
    });
  const tools = there(state.tools);
  return { ...state, config: { ...state.config, tools }, tools, addedTools: there(state.addedTools) };
}

function changesNote(changes: readonly ToolChange[]): string | null {
  if (changes.length === 0) return null;
  const named = (what: ToolChange['change']) =>
    changes
      .filter(({ change }) => change === what)
      .map(({ name }) => printable(name, { maxLength: 80 }))
      .join(', ');
  const gone = named('gone');
  const changed = named('changed');
  return harnessNote(
    `the run was broken off here and goes on now.${gone === '' ? '' : ` Tools that are gone: ${gone}.`}` +
      `${changed === '' ? '' : ` Tools whose description changed: ${changed}; it holds as it stands now.`}`,
  );
}
