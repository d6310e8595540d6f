/**
 * Rule of this folder: what a resource or a prompt is, whoever has it. Whatever is wrong with one costs it alone, its
 * address and name are never changed, and nothing here knows how it travels.
 */
export {
  contentToMcp,
  type NotRead,
  promptFromMcp,
  resourceFromMcp,
  templateFromMcp,
} from './content-definition.ts';
export { MAX_COMPLETIONS, noSuchPrompt, noSuchResource } from './content-results.ts';
export { type ContentSourceOptions, contentSource, type Listed, type OwnContent } from './content-source.ts';
export { expandTemplate, type TemplateValue, type TemplateValues } from './expand-template.ts';
export { type MatchedValues, matchTemplate } from './match-template.ts';
export {
  type Completer,
  type ContentContext,
  definePrompt,
  defineResource,
  defineResourceTemplate,
  type OwnPrompt,
  type OwnResource,
  type OwnTemplate,
  type PromptOptions,
  type PromptReturn,
  type PromptTurn,
  type ReadReturn,
  type ResourceBody,
  type ResourceOptions,
  type ResourceTemplateOptions,
} from './own-content.ts';
export { templateVariables } from './template-parts.ts';
