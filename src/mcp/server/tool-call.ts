import type { Json, JsonObject, Outcome } from '../../contracts/index.ts';
import { canonicalJson, rawParsed, sha256 } from '../../tools/index.ts';
import { CODES } from '../wire/index.ts';
import { answerInPlace, assertCanAnswer } from './answer-in-place.ts';
import { type Answers, answersIn, callContext, eventRelay } from './call-context.ts';
import { lacks, visitsFirst } from './client-input.ts';
import { givenStates } from './given-states.ts';
import { isObject } from './is-object.ts';
import { outcomeToMcp } from './outcome-to-mcp.ts';
import type { Exchange } from './peer.ts';
import { legacyResult, modernResult } from './result-text.ts';
import { RpcError } from './rpc.ts';
import type { Service } from './service.ts';

/** `tools/call`: JSON text of its result. */
export async function callTool(service: Service, params: JsonObject, exchange: Exchange): Promise<string> {
  const { host } = service;
  const { peer } = exchange;
  const { name, arguments: args = {} } = params;
  if (typeof name !== 'string') throw new RpcError(CODES.invalidParams, 'Invalid params: name must be a string');
  if (!isObject(args)) throw new RpcError(CODES.invalidParams, 'Invalid params: arguments must be an object');
  const events = eventRelay(exchange);
  const states = peer.era === 'modern' ? givenStates(host) : undefined;
  const brought = peer.era === 'modern' ? answersIn(params) : undefined;
  const whose = { peer, tool: name };
  const leg = brought?.state === undefined ? undefined : states?.legOf(whose, brought.state);
  // All legs of a call belong to the conversation that it began in.
  const conversation = leg?.conversation ?? peer.conversation;
  const visits: Json[] = [];
  const call = (answers: Answers | undefined) =>
    host.call({
      name,
      args: rawParsed(args),
      profile: 'relay',
      conversation,
      ctx: callContext(exchange, events.onEvent, { answers, redelivery: leg?.redelivery, visits }),
    });
  let outcome: Outcome;
  try {
    outcome = await call(brought);
    if (exchange.ask) outcome = await answerInPlace(exchange, outcome, call);
  } finally {
    events.finish();
  }
  if (outcome.kind === 'input_required' && outcome.state !== undefined) {
    // With other arguments or answers it is another leg, though its state is the same.
    const sent = leg && sha256(canonicalJson([leg.redelivery, args, brought?.responses ?? null]));
    states?.give(whose, conversation, outcome.state, sent);
  }
  if (outcome.kind === 'failed' && visits.length > 0) throw visitsFirst(visits);
  const answer = outcomeToMcp(outcome);
  switch (answer.kind) {
    case 'unknown_tool':
      throw new RpcError(CODES.invalidParams, `Unknown tool: ${name}`);
    case 'bad_request':
      throw new RpcError(CODES.invalidParams, answer.message);
    case 'input_required':
      assertCanAnswer(exchange, answer.result);
      return modernResult({ result: answer.result, text: JSON.stringify(answer.result) }, service.infoText);
    case 'lacks':
      if (peer.era === 'modern') throw lacks(answer.requires);
      return legacyResult(answer.otherwise);
    case 'result':
      return peer.era === 'legacy' ? legacyResult(answer) : modernResult(answer, service.infoText);
    default:
      return answer satisfies never;
  }
}
