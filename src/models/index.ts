/**
 * Rule of this folder: every model speaks the Messages API's shape, so that nothing above can tell them apart. Waiting
 * for an overloaded model happens here, is always shown, and always ends. No SDK is loaded before the first reply.
 */
export { type AnthropicOptions, anthropicModel } from './anthropic.ts';
export { invalidInputText } from './invalid-input.ts';
export { messageEvents } from './message-events.ts';
export { createMessageFold, type MessageFold } from './message-fold.ts';
export { FACTS_AS_OF, type ModelFacts, modelFacts, newestClaude, type Price } from './model-facts.ts';
export { type ModelTraits, modelTraits } from './model-traits.ts';
export { type OfflineModelOptions, offlineModel } from './offline/index.ts';
export { type OpenAIOptions, openaiModel } from './openai/index.ts';
export { costOf } from './prices.ts';
export { modelIdOf, resolveModel } from './resolve-model.ts';
export type { RetryOptions } from './retry.ts';
export { type ApartUsage, usageApart } from './usage-apart.ts';
