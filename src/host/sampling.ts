import type {
  Identity,
  InputOrigin,
  Json,
  JsonObject,
  Model,
  ModelReply,
  Policy,
  ToolDefinition,
} from '../contracts/index.ts';
import { BridleError, hostTool, printable, rawFrom, wireName } from '../tools/index.ts';
import type { Prompter } from './prompter.ts';
import { readSampling, roughTokens, type SamplingRequest, samplingText, tokensOfText } from './sampling-request.ts';

/** What one server may use of the model, from start to end of the program. */
export interface SamplingBudget {
  /** Tokens in and out, together. */
  readonly maxTokens: number;
  readonly requests: number;
  /** Of the server that is meant (`ServerRef.fingerprint`); absent: whichever has the key. */
  readonly fingerprint?: string;
}

/** Whether a server is the one that a budget is for. */
export function isLent(budget: SamplingBudget, fingerprint: string | undefined): boolean {
  return budget.fingerprint === undefined || budget.fingerprint === fingerprint;
}

export interface SamplingOptions {
  /** By server key; a server that isn't in it gets nothing. */
  readonly servers: ReadonlyMap<string, SamplingBudget>;
  /** Decides over `mcp__KEY__sampling` as over a tool. */
  readonly policy: Policy;
  readonly who: Identity;
  /** The model of the run; undefined before there is one. */
  model(): Model | undefined;
  readonly prompter?: Prompter;
}

/** What servers had of the model. */
export interface Lent {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface Sampling {
  /** Answers an MCP `sampling/createMessage`. Rejects with BridleError `sampling_refused` or `sampling_spent`. */
  answer(params: Json | undefined, from: InputOrigin | undefined): Promise<Json>;
  lent(): Lent;
}

const STOP_REASONS: ReadonlyMap<string, string> = new Map([
  ['end_turn', 'endTurn'],
  ['max_tokens', 'maxTokens'],
  ['stop_sequence', 'stopSequence'],
]);
const TRIES = 3;

/** Lends the model of the run to servers: by name, under the rules, within a budget, and in sight of the person. */
export function lendModel(options: SamplingOptions): Sampling {
  const accounts = new Map<string, Account>();
  let lent: Lent = { requests: 0, inputTokens: 0, outputTokens: 0 };
  const answer = async (params: Json | undefined, from: InputOrigin | undefined): Promise<Json> => {
    const server = from?.server;
    const budget = server && options.servers.get(server.key);
    if (!server || !budget) {
      throw refused(server?.key, 'no configuration lends it to this server', HOW_TO_LEND);
    }
    if (!isLent(budget, server.fingerprint)) {
      throw refused(server.key, 'the configuration lends it to another server of this name', HOW_TO_LEND);
    }
    const request = readSampling(params);
    if ('problem' in request) throw refused(server.key, request.problem);
    const model = options.model();
    if (!model) throw refused(server.key, 'there is no model yet');
    const account = accounts.get(server.key) ?? { requests: 0, tokens: 0 };
    accounts.set(server.key, account);
    const input = roughTokens(request);
    checkAccount(server.key, account, budget, input);
    const decision = await options.policy.decide(options.who, samplingTool(server), {
      args: { maxTokens: request.maxTokens },
      labels: new Set([`server:${server.key}`, ...(server.trustAnnotations ? [] : ['untrusted-content'])]),
    });
    const why = decision.reasons.map(({ text }) => text).join(' ');
    if (decision.effect === 'deny') throw refused(server.key, `a rule says no. ${why}`);
    const asks = decision.effect === 'ask';
    if (asks) await agreed(options, from, `wants your model ${model.id} to answer this`, samplingText(request), why);
    // Others may have spent it while somebody was asked. What is sent is counted at once, for those that come meanwhile.
    checkAccount(server.key, account, budget, input);
    const capped = { ...request, maxTokens: Math.min(request.maxTokens, budget.maxTokens - account.tokens - input) };
    const held = input + capped.maxTokens;
    account.requests += 1;
    account.tokens += held;
    const reply = await model.respond(bodyOf(capped), { signal: from.signal });
    const text = textOf(reply.message);
    const used = usedBy(reply, input, text);
    account.tokens += used.inputTokens + used.outputTokens - held;
    lent = {
      requests: lent.requests + 1,
      inputTokens: lent.inputTokens + used.inputTokens,
      outputTokens: lent.outputTokens + used.outputTokens,
    };
    if (asks) await agreed(options, from, 'is to be given this answer', text, why);
    const stopReason = STOP_REASONS.get(reply.stopReason) ?? reply.stopReason;
    return { role: 'assistant', content: { type: 'text', text }, model: model.id, stopReason };
  };
  return { answer, lent: () => lent };
}

/** What one server has had so far. */
interface Account {
  requests: number;
  tokens: number;
}

/** @throws BridleError `sampling_spent` when the budget doesn't hold one more request whose text takes so many tokens */
function checkAccount(key: string, { requests, tokens }: Account, budget: SamplingBudget, input: number): void {
  const left = budget.maxTokens - tokens;
  if (requests >= budget.requests || left < 1) throw overspent(key, budget);
  if (left > input) return;
  const text = `Server "${printable(key)}" has ${left} tokens of the model left, and its request alone takes about ${input}.`;
  throw new BridleError('sampling_spent', text, { hint: HOW_TO_RAISE });
}

/** As the model counted; where it didn't, as estimated. */
function usedBy({ usage }: ModelReply, input: number, text: string): Pick<Lent, 'inputTokens' | 'outputTokens'> {
  const inputTokens =
    tokens(usage, 'input_tokens') +
    tokens(usage, 'cache_creation_input_tokens') +
    tokens(usage, 'cache_read_input_tokens');
  const outputTokens = tokens(usage, 'output_tokens');
  if (inputTokens + outputTokens > 0) return { inputTokens, outputTokens };
  return { inputTokens: input, outputTokens: tokensOfText(text) };
}

const HOW_TO_RAISE = 'Raise its limits under "sampling" in your own bridle.json, and start anew.';
const HOW_TO_LEND =
  'Put the server under "sampling" in your own bridle.json if it may have your model; else use one that needs none.';

/** What rules are about when a server wants the model: a tool of that server, by the name of what it asks for. */
export function samplingTool(server: NonNullable<InputOrigin['server']>): ToolDefinition {
  const name = wireName(server.key, 'sampling');
  return hostTool({
    ref: { server, tool: 'sampling', name, fingerprint: server.fingerprint },
    description: "Uses the host's model.",
    inputSchema: { type: 'object' },
    raw: rawFrom({ name: 'sampling' }),
    effect: 'write',
  });
}

async function agreed(
  { prompter }: SamplingOptions,
  from: InputOrigin,
  what: string,
  text: string,
  why: string,
): Promise<void> {
  const key = from.server?.key;
  if (!prompter) throw refused(key, `somebody has to agree, and nobody sits at a terminal here. ${why}`);
  const yes = await prompter.alone(async () => {
    // Whole: what isn't shown isn't agreed to.
    const shown = printable(text, { newlines: true });
    const lines = shown.split('\n').map((line) => `  ${line}`.trimEnd());
    prompter.write(
      `\nServer ${printable(String(key))} ${what}:\n${lines.join('\n')}\n  why you are asked: ${printable(why)}\n`,
    );
    for (let tries = 0; tries < TRIES && !from.signal.aborted; tries += 1) {
      const line = (await prompter.ask('Go on? y: yes. n: no. [y/n] ', from.signal))?.trim();
      if (line === undefined || /^no?$/i.test(line)) return false;
      if (/^y(es)?$/i.test(line)) return true;
    }
    return false;
  });
  if (!yes) throw refused(key, 'the person said no');
}

function bodyOf({ system, messages, maxTokens }: SamplingRequest): Json {
  return { max_tokens: maxTokens, messages: [...messages], ...(system !== undefined && { system }) };
}

function textOf(message: Json): string {
  const content = isObject(message) && Array.isArray(message.content) ? message.content : [];
  return content.flatMap((block) => (isObject(block) && typeof block.text === 'string' ? [block.text] : [])).join('');
}

function tokens(usage: Json, name: string): number {
  const count = isObject(usage) ? usage[name] : undefined;
  return typeof count === 'number' && count > 0 ? count : 0;
}

function refused(key: string | undefined, why: string, hint?: string): BridleError {
  const who = key === undefined ? 'A server' : `Server "${printable(key)}"`;
  const text = `${who} asked to use this host's model (sampling), which is refused: ${why.replace(/[.\s]*$/, '')}.`;
  return new BridleError('sampling_refused', text, hint === undefined ? {} : { hint });
}

function overspent(key: string, { maxTokens, requests }: SamplingBudget): BridleError {
  return new BridleError(
    'sampling_spent',
    `Server "${printable(key)}" has used what it may have of the model: ${requests} requests or ${maxTokens} tokens.`,
    { hint: HOW_TO_RAISE },
  );
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
