import { once } from 'node:events';
import { resolve } from 'node:path';
import { resolveModel } from '../models/index.ts';
import {
  cassetteTurns,
  type Exchange,
  type MessagesDouble,
  messagesDouble,
  modelTurns,
  playCassette,
  readFaults,
  readScript,
  type Split,
  scriptedTurns,
  type TurnSource,
  withFaults,
} from '../testing/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { counted } from './counted.ts';
import { interruptible } from './interrupt.ts';
import { flag, listOption, portOption, stringOption } from './parse.ts';
import { printJson } from './print-json.ts';
import { styleFor } from './style.ts';

/** `bridle sim`: a double of the Messages API that runs until it is interrupted. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const json = flag(parsed, 'json');
  const key = stringOption(parsed, 'key');
  const double = messagesDouble({
    turns: withFaults(await sourceOf(parsed, io), readFaults(listOption(parsed, 'fault'))),
    keep: 0,
    split: splitOf(stringOption(parsed, 'split') ?? 'words'),
    ...(key !== undefined && { key }),
    onExchange: (exchange) => (json ? printJson(io, recordOf(exchange)) : io.stdout.write(lineOf(exchange, io))),
  });
  return interruptible(async (signal) => {
    const url = await start(double, portOption(parsed) ?? 0);
    if (json) printJson(io, { url, env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key ?? 'sim' } });
    else io.stdout.write(greeting(url, key ?? 'sim', io));
    if (!signal.aborted) await once(signal, 'abort');
    await double.stop();
    return 0;
  }, io);
}

async function sourceOf(parsed: ParsedCommand, io: CommandIo): Promise<TurnSource> {
  const script = stringOption(parsed, 'script');
  const model = stringOption(parsed, 'model');
  const cassette = stringOption(parsed, 'cassette');
  if ([script, model, cassette].filter((each) => each !== undefined).length > 1) {
    throw new BridleError(
      'usage',
      'Replies come from --script, from --cassette or from --model, not from two of them.',
    );
  }
  if (cassette !== undefined) return cassetteTurns(await playCassette(resolve(io.cwd, cassette)));
  if (script !== undefined) return scriptedTurns(await readScript(resolve(io.cwd, script)));
  return modelTurns(await resolveModel(model ?? 'offline'));
}

function splitOf(text: string): Split {
  if (text === 'whole' || text === 'words' || text === 'awkward') return text;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new BridleError('usage', `--split takes whole, words, awkward or a length, not '${text}'.`);
}

async function start(double: MessagesDouble, port: number): Promise<string> {
  try {
    return await double.start({ port });
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no reason given';
    throw new BridleError('sim_not_started', `Nothing can listen on 127.0.0.1:${port} (${code}).`, {
      hint: 'Name another --port, or leave it out to have one that is free.',
      cause,
    });
  }
}

function greeting(url: string, key: string, io: CommandIo): string {
  const { bold, dim } = styleFor(io.stdout, io.env);
  return [
    `The Messages API, played at ${bold(url)}`,
    '',
    `export ANTHROPIC_BASE_URL=${url}`,
    `export ANTHROPIC_API_KEY=${key}`,
    '',
    dim('Ctrl-C ends it. Its rules are as documented, not as measured.'),
    '',
    '',
  ].join('\n');
}

/** `3  POST /v1/messages  200  tool_use  1 call …`, with a line below for each broken rule. */
function lineOf(exchange: Exchange, io: CommandIo): string {
  const { green, red, yellow, dim } = styleFor(io.stdout, io.env);
  const { number, method, path, status, fault, reply, inputTokens, refusals } = exchange;
  const shown = status === 0 ? yellow('closed') : status < 400 ? green(String(status)) : red(String(status));
  const what = [
    `${number}`,
    `${method} ${printable(path)}`,
    shown,
    ...(reply === undefined ? [] : [printable(String(reply.stop_reason)), callsIn(reply)]),
    ...(inputTokens === undefined ? [] : [dim(`${inputTokens} tokens in`)]),
    ...(fault === undefined ? [] : [yellow(printable(fault))]),
  ].filter((part) => part !== '');
  const broken = refusals.map(({ rule, message }) => `     ${red(rule)}: ${printable(message)}\n`);
  return `${what.join('  ')}\n${broken.join('')}`;
}

function callsIn(reply: NonNullable<Exchange['reply']>): string {
  const content = Array.isArray(reply.content) ? reply.content : [];
  const calls = content.filter(
    (block) => typeof block === 'object' && block !== null && 'type' in block && block.type === 'tool_use',
  );
  return calls.length === 0 ? '' : counted(calls.length, 'call');
}

function recordOf({ body, reply, ...exchange }: Exchange): object {
  return { ...exchange, model: body?.model ?? null, stopReason: reply?.stop_reason ?? null };
}
