import { expect } from 'vitest';
import { forkMessages } from '../../src/agent/fork-messages.ts';
import { readMessages } from '../../src/agent/read-messages.ts';
import { sentMessages } from '../../src/agent/sent-messages.ts';
import type { LoopState } from '../../src/agent/state.ts';
import { awaitsReply } from '../../src/agent/system-note.ts';
import { changesPart } from '../../src/agent/request-changes.ts';
import { referencesPart } from '../../src/agent/request-references.ts';
import { toolsPart } from '../../src/agent/request-tools.ts';
import { addInput, emptyTranscript, type ReadyTranscript } from '../../src/agent/transcript.ts';
import type { Json, JsonObject } from '../../src/contracts/index.ts';
import { checkMessagesRequest } from '../../src/testing/index.ts';
import type { History, RunPlan } from './generate.ts';
import { configOf, inputOf, MODELS, type PlayedModel, playRun, type Seen } from './play.ts';
import { Provider } from './replies.ts';

/** What was seen over many histories: one that ends at once shows nothing. */
export class Tally {
  requests = 0;
  calls = 0;
  crashes = 0;
  runs = 0;
  readonly ends = new Map<string, number>();

  add(seen: Seen): void {
    this.requests += seen.requests.length;
    this.calls += seen.given.length;
    this.crashes += seen.crashes;
    this.runs += 1;
    for (const how of seen.ends) this.ends.set(how, (this.ends.get(how) ?? 0) + 1);
  }
}

/**
 * Plays a history and checks it.
 *
 * @param heard gets every request, as it would be sent
 */
export function checkHistory({ settings, runs }: History, tally: Tally, heard?: (request: Json) => void): void {
  let which = settings.model;
  let model = modelAt(which);
  let provider = new Provider(model.runsCode);
  const signed = new Set<string>();
  let transcript = emptyTranscript();
  for (const plan of runs) {
    if (plan.before === 'other_model') {
      which += 1;
      model = modelAt(which);
      for (const each of provider.signed) signed.add(each);
      provider = new Provider(model.runsCode);
      for (const each of signed) provider.signed.add(each);
    }
    transcript = prepared(transcript, plan);
    const config = configOf(settings, model);
    const seen: Seen = { requests: [], given: [], ends: [], crashes: 0 };
    const input = inputOf(plan.input, awaitsReply(transcript.messages));
    const state = playRun({ config, transcript, model, provider }, input, plan.actions, seen);
    for (const request of seen.requests) heard?.(request);
    checkEnd(state, seen, model);
    tally.add(seen);
    transcript = readAgain(state.transcript.messages);
  }
}

function modelAt(which: number): PlayedModel {
  return MODELS[which % MODELS.length] ?? MODELS[0];
}

function prepared(transcript: ReadyTranscript, { before }: RunPlan): ReadyTranscript {
  if (before === 'reloaded') return readAgain(JSON.parse(JSON.stringify(transcript.messages)) as Json[]);
  if (typeof before === 'string') return transcript;
  return readAgain(forkMessages(transcript.messages, Math.min(before.forkAt, transcript.messages.length)));
}

function readAgain(messages: readonly Json[]): ReadyTranscript {
  const read = readMessages(messages);
  if ('problem' in read) throw new Error(read.problem);
  return read;
}

function checkEnd(state: LoopState, seen: Seen, model: PlayedModel): void {
  expect(seen.ends).toHaveLength(1);
  expect(new Set(seen.given).size).toBe(seen.given.length);
  expect(state.calls).toBe(seen.given.length);
  const { transcript } = state;
  if (transcript.state === 'open') throw new Error('The run ended with an open transcript.');

  const calls = blocksOf(transcript.messages, 'tool_use').map((each) => each.id);
  const results = blocksOf(transcript.messages, 'tool_result').map((each) => each.tool_use_id);
  expect(results).toEqual(calls);
  expect(new Set(calls).size).toBe(calls.length);

  const goingOn = sentMessages({ ...state, transcript: addInput(transcript, 'And now?') });
  const body: JsonObject = { model: model.id, max_tokens: 1, messages: [...goingOn] };
  const whole = [toolsPart, referencesPart, changesPart].reduce((made, part) => part(state, made), body);
  expect(checkMessagesRequest(whole)).toEqual([]);
}

function blocksOf(messages: readonly Json[], type: string): JsonObject[] {
  return (messages as JsonObject[])
    .flatMap(({ content }) => (Array.isArray(content) ? (content as JsonObject[]) : []))
    .filter((each) => each.type === type);
}
