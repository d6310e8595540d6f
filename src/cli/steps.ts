import type { RunEvent } from '../agent/index.ts';
import type { CallOutcomeRecord, Json, Outcome, Recorder } from '../contracts/index.ts';
import { printable } from '../tools/index.ts';
import type { Style } from './style.ts';
import { reasonLine } from './workspace.ts';

/** Shows a run while it goes on: what the model says on the way, each call, how it was decided, and how it ended. */
export interface StepPrinter {
  onProgress(event: RunEvent): void;
  readonly recorder: Recorder;
}

/** Of arguments and results, a line shows the beginning; why something failed is what a reader acts on. */
const LINE = 200;
const FAILURE = 2_000;
/** Shortest time between two lines of progress of one call. */
const PROGRESS_MS = 250;
/** Arguments that take longer to write than this are shown while they come, ms. */
const ARGUMENTS_MS = 1_000;

/** How lines are kept within the width of a terminal. */
export interface StepFold {
  columns(): number;
  /** How to see whole what was cut in a call's line, e.g. `/show 3`. */
  more(callId: string): string;
}

/**
 * @param write takes whole lines; usually stderr's `write`
 * @param fold for a terminal that somebody sits at: each step is one line of it. Without: 200 characters a text
 */
export function stepPrinter(
  write: (text: string) => unknown,
  style: Style,
  fold?: StepFold,
  now: () => number = Date.now,
): StepPrinter {
  const line = (text: string) => write(`${text}\n`);
  const width = (taken: number) => (fold ? Math.max(8, fold.columns() - taken) : LINE);
  const shown = (value: string, taken = 2) => printable(value, { maxLength: width(taken) });
  /** The text of a call, and where it is cut, how to see it whole. */
  const folded = (text: string, taken: number, callId: string) => {
    const whole = printable(text);
    if (!fold || whole.length <= width(taken)) return shown(text, taken);
    const more = ` ${fold.more(callId)}`;
    return `${shown(text, taken + more.length)}${style.dim(more)}`;
  };

  /** Some servers tell of each file that they read: a few lines a second are enough for a person. */
  const told = new Map<string, number>();
  const due = (callId: string): boolean => {
    const at = now();
    if (at - (told.get(callId) ?? Number.NEGATIVE_INFINITY) < PROGRESS_MS) return false;
    told.set(callId, at);
    return true;
  };

  /** What of the arguments of the call that is being written hasn't been shown, and since when. */
  let draft: { readonly index: number; readonly at: number; readonly text: string } | null = null;
  const onArguments = ({ index, name, piece }: Extract<RunEvent, { type: 'arguments' }>): void => {
    const at = now();
    const before = draft?.index === index && piece !== '' ? draft : { at, text: '' };
    draft = { index, at: before.at, text: before.text + piece };
    if (at - before.at < ARGUMENTS_MS || draft.text === '') return;
    const from = `  … ${printable(name)} `;
    const text = printable(draft.text);
    const most = width(from.length + 1);
    line(style.dim(`${from}${text.length > most ? `…${text.slice(-most)}` : text}`));
    draft = { index, at, text: '' };
  };

  const onProgress = (event: RunEvent): void => {
    if (event.type !== 'arguments') draft = null;
    switch (event.type) {
      case 'arguments':
        onArguments(event);
        return;
      case 'message': {
        if (event.stopReason === 'tool_use')
          for (const text of textsOf(event.message)) line(style.dim(`  ${shown(text)}`));
        return;
      }
      case 'call':
        line(callLine(printable(event.name), JSON.stringify(event.args), event.callId));
        return;
      case 'wait':
        line(style.yellow(`  waiting ${(event.ms / 1000).toFixed(1)} s: ${printable(event.reason)}`));
        return;
      case 'notice':
        line(style.yellow(`  ${printable(event.notice.text)}`));
        return;
      case 'hook':
        line(style.yellow(`  hook: ${printable(event.text)}`));
        return;
      case 'progress': {
        // A log message stands on a line of its own, by its level.
        if (event.kind === 'log' || !due(event.callId)) return;
        const said = progressText(event.raw.text);
        if (said) line(style.dim(`  … ${shown(said, 4)}`));
        return;
      }
      case 'provider_call':
        line(
          `${callLine(printable(event.name), JSON.stringify(event.input), event.id)} ${style.dim('by its provider')}`,
        );
        return;
      case 'subagent':
        started(event.agent).onProgress(event.event);
        return;
      case 'checked':
        for (const { path, message } of event.issues)
          line(style.yellow(`  answer: ${shown(`${path} ${message}`.trim(), 10)}`));
        return;
      case 'loaded':
        line(style.dim(`  ${printable(event.name)} was called before it was searched for, and is loaded now`));
        return;
      case 'limit':
        line(style.yellow(`  ${printable(event.message)}`));
        return;
      case 'text':
      case 'thinking':
      case 'asked':
      case 'decision':
      case 'outcome':
      case 'skipped':
      case 'end':
        // The asker shows its own questions, and the recorder below each decision and outcome.
        return;
    }
  };

  /** What an agent that was started does stands under its name. */
  const printers = new Map<string, StepPrinter>();
  const started = (agent: string): StepPrinter => {
    const known = printers.get(agent);
    if (known) return known;
    const prefix = `  ${printable(agent, { maxLength: 20 })} | `;
    const inner = fold && { ...fold, columns: () => fold.columns() - prefix.length };
    const made = stepPrinter((text) => write(`${style.dim(prefix)}${text}`), style, inner, now);
    printers.set(agent, made);
    return made;
  };

  const callLine = (name: string, args: string, callId: string): string =>
    `${style.cyan('→')} ${style.bold(name)} ${folded(args, name.length + 3, callId)}`;

  const outcome = (call: CallOutcomeRecord): void => {
    if (call.parent) {
      const { parent: _, ...own } = call;
      started(call.who.agent).recorder.outcome(own);
      return;
    }
    if (/\.preview\d*$/.test(call.callId)) {
      const from = `  facts from ${printable(call.name)}: `;
      line(style.dim(`${from}${shown(outcomeText(call.outcome), from.length)}`));
      return;
    }
    const reason = call.decision?.reasons[0];
    if (call.decision && reason) {
      const said = `${call.decision.effect}: ${reasonLine(reason)}`;
      line(style.dim(`  ${fold ? shown(said) : said}`));
    }
    if (call.asked && call.asked.answer !== 'parked') {
      line(style.dim(`  ${call.asked.answer === 'allow' ? 'allowed' : 'denied'} by ${printable(call.asked.by)}`));
    }
    if (call.proposed !== undefined) line(style.dim(`  with other arguments: ${shown(JSON.stringify(call.args), 24)}`));
    const ok = call.outcome.kind === 'ok' && !call.outcome.isError;
    const mark = ok ? style.green('←') : style.red('✗');
    const how = `${outcomeLabel(call.outcome)} in ${call.ms} ms: `;
    const text = outcomeText(call.outcome);
    line(`${mark} ${how}${ok ? folded(text, how.length + 2, call.callId) : printable(text, { maxLength: FAILURE })}`);
  };

  return { onProgress, recorder: { intent: async () => {}, outcome } };
}

export function textsOf(message: Json): string[] {
  if (message === null || typeof message !== 'object' || Array.isArray(message)) return [];
  const blocks = Array.isArray(message.content) ? message.content : [];
  return blocks.flatMap((block) =>
    block !== null && typeof block === 'object' && !Array.isArray(block) && typeof block.text === 'string'
      ? [block.text]
      : [],
  );
}

function progressText(raw: string): string {
  try {
    const { progress, total, message, data } = JSON.parse(raw) as Record<string, Json | undefined>;
    const count = progress === undefined ? '' : `${progress}${total === undefined ? '' : `/${total}`}`;
    const words = message ?? data;
    const said = words === undefined ? '' : typeof words === 'string' ? words : JSON.stringify(words);
    return printable([count, said].filter((part) => part !== '').join(' '), { maxLength: LINE });
  } catch {
    return '';
  }
}

/** One word for how a call ended. */
function outcomeLabel(outcome: Outcome): string {
  return outcome.kind === 'ok' ? (outcome.isError ? 'error' : 'ok') : outcome.kind.replace('_', ' ');
}

/** What a call gave: the result's text, or why there is none. */
export function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'ok':
      return resultText(outcome.raw.text);
    case 'failed':
    case 'cancelled':
      return outcome.failure.message;
    case 'unknown_tool':
    case 'invalid':
    case 'denied':
      return outcome.reasons.map((reason) => reason.text).join(' ');
    case 'parked':
      return `waiting for approval ${outcome.approval}`;
    case 'input_required':
      return 'the server asks for more input';
  }
}

function resultText(raw: string): string {
  try {
    const { content, structuredContent } = JSON.parse(raw) as { content?: Json; structuredContent?: Json };
    if (structuredContent !== undefined) return JSON.stringify(structuredContent);
    if (!Array.isArray(content)) return raw;
    const parts = content.map((block) => {
      if (block === null || typeof block !== 'object' || Array.isArray(block)) return JSON.stringify(block);
      return typeof block.text === 'string' ? block.text : `[${String(block.type)}]`;
    });
    return parts.length === 0 ? '(empty)' : parts.join(' ');
  } catch {
    return raw;
  }
}
