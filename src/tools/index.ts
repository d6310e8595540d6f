/**
 * Rule of this folder: one definition makes both sides. What the model reads of a tool and what the harness checks and
 * runs come from the same object, and nothing here knows where a tool comes from or who may call it.
 */
export { type AgentSdkToolLike, type AnthropicRunnableLike, adoptTool, type RunnableLike } from './adopt-tool.ts';
export { apiToolEntry, type Strictness, strictTool, toApiTool } from './api-tool.ts';
export {
  type Answer,
  type Ask,
  asking,
  type QuestionOptions,
  type Questions,
  type Root,
  type Sample,
  type SampleParams,
  type VisitOptions,
} from './asking.ts';
export { BridleError, isBridleError } from './bridle-error.ts';
export { type Abortable, Cancellation, signalOf } from './cancellation.ts';
export { canonicalJson, sha256 } from './canonical.ts';
export { checkTool } from './check-tool.ts';
export { type Cursors, type CursorsOptions, cursors, type Page } from './cursors.ts';
export {
  type ArgumentsOf,
  defineTool,
  type HandlerReturn,
  type InputOf,
  type Tool,
  type ToolAnnotations,
  type ToolContext,
  type ToolOptions,
  type ToolSchema,
} from './define-tool.ts';
export { deriveId } from './derive-id.ts';
export { describeBlock } from './describe-block.ts';
export { editDistance } from './edit-distance.ts';
export { asProposed, type CaseCorrection, enumCase } from './enum-case.ts';
export { type Ensured, type EnsureOptions, ensure } from './ensure.ts';
export { failureToWire, ToolFailure, type ToolFailureOptions } from './failure.ts';
export { type FailureHint, failureHint } from './failure-hint.ts';
export { type FileTrash, fileTrash, type Trashed } from './file-trash.ts';
export type { FromSchema } from './from-schema.ts';
export { functionSource } from './function-source.ts';
export { harnessNote, isHarnessNote, promptNote, wordsOfPromptNote } from './harness-note.ts';
export { hostTool, isHostTool } from './host-tool.ts';
export { nestsDeeper } from './json-depth.ts';
export { isSearchEntry, isSearchTool, searchTool } from './search-tool.ts';
export { isJsonObject, ownMember, pointerSegment, stringMember, toJson } from './json-object.ts';
export { keyAt, type Leaf, leavesOf, resolvePointer } from './json-pointer.ts';
export { isLoopback } from './loopback.ts';
export { makeFolder } from './make-folder.ts';
export { definitionFromMcp, definitionToMcp, type McpDefinition } from './mcp-definition.ts';
export { missingReasons } from './missing-check.ts';
export { EMPTY_RESULT, type ModelContentOptions, modelContent } from './model-content.ts';
export { noSuchTool } from './no-such-tool.ts';
export { normalizeResult } from './normalize-result.ts';
export { onAbort } from './on-abort.ts';
export { outcomeToToolResult } from './outcome-result.ts';
export { type OutputFormat, outputFormat } from './output-format.ts';
export { headersFor, headerValue, type ParamHeader, paramHeaders } from './param-headers.ts';
export { type PlannedTool, planThenAct } from './plan-then-act.ts';
export { cutAt, printable } from './printable.ts';
export { rawFrom, rawJson, rawParsed } from './raw-json.ts';
export {
  audio,
  type BlockOptions,
  type BuiltResult,
  type ContentBlock,
  embeddedResource,
  image,
  resourceLink,
  structured,
  text,
} from './result-builders.ts';
export { namesSecret } from './secret-name.ts';
export { SignalOnDemand } from './signal-on-demand.ts';
export { compileSchema, type SchemaCheck } from './schema-check.ts';
export { inspectAnySchema, inspectSchema, SCHEMA_CAPS } from './schema-inspect.ts';
export type { SchemaIssue } from './schema-issues.ts';
export { ownInputSchema, ownOutputSchema } from './schema-own.ts';
export type { SchemaStep } from './schema-step.ts';
export { standardIssues } from './standard-issues.ts';
export { isStandardSchema, type StandardSchemaLike } from './standard-schema.ts';
export { STRICT_LIMITS, type StrictNeeds, strictNeeds } from './strict-needs.ts';
export { type StateHandles, type StateHandlesOptions, stateHandles } from './state-handles.ts';
export {
  planStrict,
  type StrictChoice,
  type StrictMode,
  type StrictPlan,
  strictNotices,
} from './strict-plan.ts';
export { type ToolsetMember, type ToolsetOptions, toolsetSource } from './toolset.ts';
export { WIRE_NAME_LIMIT, wireName, wireServerPart } from './wire-name.ts';
