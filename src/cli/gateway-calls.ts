import type { Recorder } from '../contracts/index.ts';
import { endOf } from '../gateway/index.ts';
import { printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { flag } from './parse.ts';
import { printJson } from './print-json.ts';
import { styleFor } from './style.ts';

/** Tells each call as it ends, a line each: on stderr for people, as JSON on stdout for programs. */
export function callLines(parsed: ParsedCommand, io: CommandIo): Recorder | undefined {
  if (flag(parsed, 'check') || flag(parsed, 'stdio') || (flag(parsed, 'quiet') && !flag(parsed, 'json')))
    return undefined;
  const isJson = flag(parsed, 'json');
  const { dim, green, red, yellow } = styleFor(io.stderr, io.env);
  const coloured = (end: string) => (end === 'ok' ? green(end) : end === 'failed' ? red(end) : yellow(end));
  return {
    intent: async () => {},
    outcome(call) {
      const { startedAt, ms, who, name } = call;
      const end = endOf(call);
      if (isJson)
        printJson(io, { type: 'call', at: new Date(startedAt).toISOString(), agent: who.agent, tool: name, end, ms });
      else {
        const time = new Date(startedAt).toISOString().slice(11, 19);
        const what = `${printable(who.agent)}  ${printable(name, { maxLength: 80 })}`;
        io.stderr.write(`${dim(time)}  ${what}  ${coloured(end)}  ${dim(`${Math.round(ms)} ms`)}\n`);
      }
    },
  };
}
