import type { RunEvent, RunResult } from '../../agent/index.ts';
import type { CallOutcomeRecord, Json, Recorder } from '../../contracts/index.ts';
import { visibleText } from '../../host/index.ts';
import { printable } from '../../tools/index.ts';
import { optionLines } from '../run.ts';
import { outcomeText, stepPrinter } from '../steps.ts';
import type { Style } from '../style.ts';
import type { Screen } from './screen.ts';
import { type Wrap, wrap } from './wrap.ts';

/** A call that was made in this chat, whole. */
interface ShownCall {
  readonly name: string;
  readonly args: Json;
  result?: string;
}

/** Shows turns while they go on. */
export interface TurnView {
  onProgress(event: RunEvent): void;
  readonly recorder: Recorder;
  /** What remains to be said when a turn has ended. */
  ended(result: RunResult, ms: number): void;
  /** A call of this chat by its number, whole; undefined when there is none. */
  call(number: number): string | undefined;
  /** Calls so far. */
  readonly calls: number;
}

/** Calls kept for `/show`. */
const MOST_CALLS = 200;
const PROGRESS_MS = 1_000;

/**
 * @param live whether the answer is shown as it comes; otherwise once, when the turn has ended
 */
export function turnView(screen: Screen, style: Style, live: boolean): TurnView {
  const numbers = new Map<string, number>();
  const shown = new Map<number, ShownCall>();
  const fold = {
    columns: () => screen.columns(),
    more: (callId: string) => `/show ${numbers.get(callId) ?? '?'}`,
  };
  const steps = stepPrinter((text) => screen.lines(text), style, live ? fold : undefined);
  /** When a call's progress was shown last, Unix ms. */
  const toldAt = new Map<string, number>();
  let calls = 0;
  /** Of the message that is coming. */
  let text = '';
  /** Of the last message that came whole. */
  let said = '';
  let flow: Wrap | null = null;

  const pause = () => {
    flow?.end();
    if (flow && !flow.atStart) screen.answer('\n');
    flow = null;
  };
  const begunAnew = () => {
    const hadText = text !== '';
    text = '';
    pause();
    if (hadText && live) screen.lines(style.yellow('  the reply begins anew; what stands above of it is void'));
  };

  return {
    recorder: {
      intent: steps.recorder.intent,
      outcome(call: CallOutcomeRecord) {
        const known = shown.get(numbers.get(call.callId) ?? 0);
        if (known) known.result = outcomeText(call.outcome);
        pause();
        steps.recorder.outcome(call);
      },
    },
    onProgress(event) {
      switch (event.type) {
        case 'text':
          text += event.text;
          if (!live) return;
          if (flow === null) {
            screen.freshLine();
            flow = wrap(
              (piece) => screen.answer(piece),
              () => screen.columns(),
            );
          }
          flow.push(printable(event.text, { newlines: true }));
          return;
        case 'arguments':
          pause();
          steps.onProgress(event);
          return;
        case 'message':
          pause();
          said = text;
          text = '';
          if (!live) steps.onProgress(event);
          return;
        case 'wait':
          begunAnew();
          steps.onProgress(event);
          return;
        case 'notice':
        case 'hook':
          pause();
          steps.onProgress(event);
          return;
        case 'limit':
          if (event.retrying) begunAnew();
          else pause();
          steps.onProgress(event);
          return;
        case 'call':
          pause();
          calls += 1;
          numbers.set(event.callId, calls);
          shown.set(calls, { name: event.name, args: event.args });
          shown.delete(calls - MOST_CALLS);
          steps.onProgress(event);
          return;
        case 'progress': {
          // Some servers tell each byte; a person reads a line a second.
          const now = Date.now();
          if (live && now - (toldAt.get(event.callId) ?? 0) < PROGRESS_MS) return;
          toldAt.set(event.callId, now);
          steps.onProgress(event);
          return;
        }
        case 'outcome':
          toldAt.delete(event.callId);
          return;
        default:
          steps.onProgress(event);
      }
    },
    ended(result, ms) {
      pause();
      text = '';
      const answer = printable(result.text, { newlines: true }).trim();
      // A question that came as a call has not been shown yet.
      const isNew = answer !== '' && !(live && said.includes(result.text.trim()));
      const mark = live && result.end === 'asked' ? style.cyan('? ') : '';
      if (isNew && (!live || result.end === 'asked')) screen.answer(`${mark}${answer}\n`);
      for (const line of optionLines(result)) screen.answer(`${line}\n`);
      said = '';
      for (const line of endLines(result, style)) screen.lines(line);
      if (live) screen.lines(style.dim(spent(result, ms)));
    },
    call(number) {
      const call = shown.get(number);
      if (!call) return undefined;
      const args = JSON.stringify(call.args, null, 2);
      const result = call.result === undefined ? '(not back yet)' : call.result;
      return visibleText(`${call.name}\n\narguments:\n${args}\n\nresult:\n${result}`, { newlines: true });
    },
    get calls() {
      return calls;
    },
  };
}

function endLines({ end, error, handoff }: RunResult, style: Style): readonly string[] {
  if (error) {
    const hint = error.hint === undefined ? [] : [`  ${printable(error.hint, { newlines: true })}`];
    const code = printable(error.code);
    return [`${style.red(`error (${code}):`)} ${printable(error.message, { newlines: true })}`, ...hint];
  }
  if (end === 'aborted') return [style.yellow('stopped; the session goes on')];
  if (end === 'answered' || end === 'asked') return [];
  return [`${style.yellow(`ended: ${end}`)}${handoff ? `: ${printable(handoff.message)}` : ''}`];
}

function spent({ calls, usage }: RunResult, ms: number): string {
  const parts = [`${(ms / 1000).toFixed(1)} s`];
  if (calls > 0) parts.push(`${calls} ${calls === 1 ? 'call' : 'calls'}`);
  const tokens = usage.inputTokens + usage.outputTokens;
  if (tokens > 0) parts.push(`${tokens} tokens`);
  if (usage.costUsd) parts.push(`$${usage.costUsd.toFixed(4)}`);
  return parts.join(' · ');
}
