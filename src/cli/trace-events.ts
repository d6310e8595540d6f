import type { TraceEvent } from '../contracts/index.ts';
import { forkPoints, forkTrace, readTrace } from '../dispatch/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { flag, numberOption } from './parse.ts';
import { printJson } from './print-json.ts';
import { runId } from './run.ts';
import { textsOf } from './steps.ts';
import { styleFor } from './style.ts';
import { findTrace, tracesDir } from './traces.ts';

const LONGEST = 100;

/** `bridle trace show [RUN] --events`: a line each, numbered as `fork` counts them. */
export async function showEvents(id: string | undefined, io: CommandIo): Promise<number> {
  const { file } = await findTrace(id, io);
  const style = styleFor(io.stdout, io.env);
  const events: TraceEvent[] = [];
  for await (const event of readTrace(file)) events.push(event);
  const points = new Set(forkPoints(events));
  const width = String(events.length).length;
  for (const [at, event] of events.entries()) {
    const number = String(at + 1).padStart(width);
    const mark = points.has(at + 1) ? '*' : ' ';
    const when = new Date(event.at).toISOString().slice(11, 23);
    io.stdout.write(
      `${number}${mark} ${style.dim(when)} ${event.type.padEnd(8)} ${printable(gist(event), { maxLength: LONGEST })}\n`,
    );
  }
  return 0;
}

/** `bridle trace fork [RUN] --at N`. */
export async function fork(id: string | undefined, parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const at = numberOption(parsed, 'at');
  if (at === undefined) {
    throw new BridleError('usage', 'A fork needs --at N: how many events of the run it keeps.', {
      hint: "'bridle trace show RUN --events' numbers them, and marks with * where a run can be forked.",
    });
  }
  const { file, run: from } = await findTrace(id, io);
  const run = runId();
  const path = await forkTrace({ file, at, dir: tracesDir(io), run });
  if (flag(parsed, 'json')) printJson(io, { run, trace: path, forked: { run: from, event: at } });
  else io.stdout.write(`${run}: the first ${at} events of ${printable(from)}. Go on: bridle run --resume ${run}\n`);
  return 0;
}

function gist(event: TraceEvent): string {
  switch (event.type) {
    case 'run':
      return event.task;
    case 'begin':
      return event.model;
    case 'input':
      return textsOf({ content: event.content }).join(' ') || JSON.stringify(event.content);
    case 'model':
      return `${event.stopReason}: ${textsOf(event.message).join(' ')}`;
    case 'intent':
      return `${event.name} ${JSON.stringify(event.args)}`;
    case 'decided':
      return `${event.intent.ref.name}: ${event.intent.decision.effect}`;
    case 'call':
      return `${event.call.name}: ${event.call.outcome.kind}`;
    case 'outcome':
      return `${event.callId}: ${event.outcome.kind}`;
    case 'question':
      return event.question.tool;
    case 'hook':
      return `${event.hook.event} (${event.hook.hook})`;
    case 'resume':
      return `after ${event.idleMs} ms`;
    case 'checked':
      return JSON.stringify(event);
    case 'end':
      return event.how;
    case 'limit':
    case 'abort':
    case 'edit':
      return JSON.stringify(event.detail);
  }
}
