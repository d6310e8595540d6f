/**
 * Rule of this folder: a double is as strict as what it stands for. Whatever passes here would pass there, as far as the
 * request alone can tell.
 */
export { checkMessagesRequest, MESSAGES_REQUEST_RULES } from './check-messages-request.ts';
export type { Rule } from './rule.ts';
export {
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  type ScriptedTurn,
  scriptedModel,
} from './scripted-model.ts';
