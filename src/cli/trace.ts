import type { HookRecord, Json, QuestionRecord, TraceEvent } from '../contracts/index.ts';
import { listTraces, readTrace, type TraceSummary } from '../dispatch/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { counted } from './counted.ts';
import { columns } from './help.ts';
import { originLines } from './origin-lines.ts';
import { flag, numberOption } from './parse.ts';
import { printJson } from './print-json.ts';
import { stepPrinter, textsOf } from './steps.ts';
import { type Style, styleFor } from './style.ts';
import { fork, showEvents } from './trace-events.ts';
import { findTrace, tracesDir } from './traces.ts';

const SHOWN = 20;

/** `bridle trace list`, `bridle trace show [RUN]` and `bridle trace fork [RUN] --at N`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [verb, id] = parsed.positionals;
  if (verb === 'list' && id === undefined) return list(parsed, io);
  if (verb === 'show') return flag(parsed, 'events') ? showEvents(id, io) : show(id, parsed, io);
  if (verb === 'fork') return fork(id, parsed, io);
  throw new BridleError('usage', `There is no 'bridle trace ${printable(parsed.positionals.join(' '))}'.`, {
    hint: "It is 'bridle trace list', 'bridle trace show [RUN]' or 'bridle trace fork [RUN] --at N'.",
  });
}

async function list(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const traces = (await listTraces(tracesDir(io))).slice(0, numberOption(parsed, 'limit') ?? SHOWN);
  if (flag(parsed, 'json')) {
    printJson(io, traces, 2);
  } else if (traces.length === 0) {
    io.stdout.write(`No runs in ${printable(tracesDir(io))} yet: 'bridle run "task"' makes one.\n`);
  } else {
    io.stdout.write(`${columns(traces.map((trace) => [printable(trace.run), summary(trace)] as const)).join('\n')}\n`);
  }
  return 0;
}

function summary({ startedAt, end, calls, model, task }: TraceSummary): string {
  const when = new Date(startedAt).toISOString().slice(0, 19).replace('T', ' ');
  const how = printable(end ?? 'broke off or running').padEnd(9);
  return `${when}  ${how}  ${counted(calls, 'call').padEnd(8)}  ${printable(model)}  ${printable(task, { maxLength: 60 })}`;
}

async function show(id: string | undefined, parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const { file } = await findTrace(id, io);
  const style = styleFor(io.stdout, io.env);
  let skipped = 0;
  const onSkipped = () => {
    skipped += 1;
  };
  const steps = stepPrinter((text) => io.stdout.write(text), style);
  let task: string | undefined;
  for await (const event of readTrace(file, onSkipped)) {
    if (event.type === 'run') task = event.task;
    if (flag(parsed, 'json')) printJson(io, event);
    // Of one run, the header tells what was asked for; one trace can hold more, as a conversation does.
    else if (event.type === 'input' && event.content !== task)
      io.stdout.write(`${style.cyan('you:')} ${printable(inputText(event.content), { newlines: true })}\n`);
    else showEvent(event, steps, style, io);
  }
  if (skipped > 0) io.stderr.write(`${skipped} torn or unknown lines of ${printable(file)} passed over\n`);
  return 0;
}

function inputText(content: Json): string {
  if (typeof content === 'string') return content;
  return textsOf({ content }).join(' ') || JSON.stringify(content);
}

/** What a server asked in the middle of a call, and what it was told, on one line. */
function questionLine({ server, request, answer, error }: QuestionRecord): string {
  const { method, params } = (request ?? {}) as { method?: unknown; params?: { message?: unknown } };
  const words = typeof params?.message === 'string' ? `: ${params.message}` : '';
  const told = error ?? JSON.stringify(answer);
  return printable(`${server ?? 'this program'} asked (${String(method)})${words} → ${told}`, { maxLength: 400 });
}

/** How a hook went, on one line. */
function hookLine({ event, hook, failed, answer }: HookRecord): string {
  const said = JSON.stringify(answer ?? {});
  const how = failed === undefined ? (said === '{}' ? 'no objection' : said) : `failed: ${failed}`;
  return printable(`hook ${event} (${hook}) → ${how}`, { maxLength: 400 });
}

function showEvent(event: TraceEvent, steps: ReturnType<typeof stepPrinter>, style: Style, io: CommandIo): void {
  switch (event.type) {
    case 'run':
      io.stdout.write(
        `${style.bold(printable(event.run))}  ${printable(event.agent)} with ${printable(event.model)}\n`,
      );
      io.stdout.write(`  ${printable(event.task, { newlines: true })}\n`);
      return;
    case 'model':
      steps.onProgress({ type: 'message', message: event.message, stopReason: event.stopReason });
      return;
    case 'intent':
      steps.onProgress({ type: 'call', callId: event.callId, name: event.name, args: event.args });
      return;
    case 'call':
      steps.recorder.outcome(event.call);
      for (const line of originLines(event.call)) io.stdout.write(`  ${style.dim(line)}\n`);
      return;
    case 'question':
      io.stdout.write(`${style.dim(`  ${questionLine(event.question)}`)}\n`);
      return;
    case 'hook':
      io.stdout.write(`${style.dim(`  ${hookLine(event.hook)}`)}\n`);
      return;
    case 'limit':
    case 'abort':
    case 'edit': {
      const { message, note } = (event.detail ?? {}) as { message?: unknown; note?: unknown };
      const words = message ?? note;
      const said = typeof words === 'string' ? words : JSON.stringify(event.detail);
      io.stdout.write(`${style.yellow(`${event.type}:`)} ${printable(said)}\n`);
      return;
    }
    case 'end': {
      const { text } = (event.detail ?? {}) as { text?: unknown };
      io.stdout.write(
        `${style.bold(printable(event.how))}${typeof text === 'string' && text !== '' ? `: ${printable(text, { newlines: true })}` : ''}\n`,
      );
      return;
    }
    case 'checked': {
      const { issues, again } = event;
      const found = Array.isArray(issues) ? issues.length : 0;
      const next = again === undefined ? '' : ', asked again';
      io.stdout.write(`${style.dim(`  answer checked: ${counted(found, 'issue')}${next}`)}\n`);
      return;
    }
    case 'resume':
      io.stdout.write(`${style.yellow('resumed')} after ${counted(Math.round(event.idleMs / 1000), 'second')}\n`);
      return;
    case 'begin':
    case 'input':
    case 'decided':
    case 'outcome':
      // The call's own line tells these once more, and whole.
      return;
  }
}
