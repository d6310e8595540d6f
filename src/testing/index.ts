/**
 * Rule of this folder: a double is as strict as what it stands for. Whatever passes here would pass there, as far as the
 * request alone can tell.
 */
export {
  type CassetteHeader,
  type CassettePlayer,
  type CassetteRecorder,
  type PlayedAgent,
  type PlayedConnection,
  type PlayOptions,
  playCassette,
  type RecordOptions,
  recordCassette,
} from '../cassette/index.ts';
export { cassetteTurns } from './cassette-turns.ts';
export { ESTIMATE_ERROR, estimateTokens } from './double/estimate-tokens.ts';
export type { Exchange } from './double/exchange.ts';
export { type MessagesDouble, type MessagesDoubleOptions, messagesDouble } from './double/messages-double.ts';
export type { Split } from './double/split.ts';
export { FAULT_KINDS, type Fault, type FaultKind } from './fault.ts';
export { readFaults } from './fault-option.ts';
export { readScript } from './read-script.ts';
export { checkMessagesRequest, MESSAGES_REQUEST_RULES } from './rules/check-messages-request.ts';
export { type HttpRule, MESSAGES_HTTP_RULES } from './rules/http-rules.ts';
export { type MemoryRule, MESSAGES_MEMORY_RULES } from './rules/memory-rules.ts';
export type { Rule, RuleFacts, RuleSource } from './rules/rule.ts';
export { type ScriptedModel, type ScriptedModelOptions, scriptedModel } from './scripted-model.ts';
export type { ScriptedCall, ScriptedReply, ScriptedServerCall } from './scripted-reply.ts';
export {
  modelTurns,
  type PlainTurn,
  type RecordedReply,
  recordedTurns,
  type ScriptedTurn,
  type SourcedTurn,
  scriptedTurns,
  type TurnSource,
  withFaults,
} from './turn-source.ts';
