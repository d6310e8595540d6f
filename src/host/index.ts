/**
 * Rule of this folder: nothing from a project's folder starts or loosens anything before a person trusted exactly that
 * text; what tightens holds at once. Files that people already have are read as they are, and what is odd is said.
 */

export { type AgentFile, type AgentTools, MAIN_AGENT } from './agents/agent-file.ts';
export type { ListedAgent } from './agents/settle-agents.ts';
export type { AuditSettings } from './audit-settings.ts';
export { parseJsonc, readJsonFile } from './config-tree.ts';
export { type ComposedInput, composeInput } from './content/compose-input.ts';
export { contentWatch } from './content/content-watch.ts';
export { findMentions } from './content/find-mentions.ts';
export { resourceTools } from './content/resource-tools.ts';
export { choosePrompt, givenArguments, readSlash } from './content/slash-prompt.ts';
export type { TrustItem, TrustRequest } from './describe-trust.ts';
export type { HookEntry, HookScope } from './hooks/hook-entry.ts';
export { hooksToRun, type ListedHook } from './hooks/project-hooks.ts';
export { type ImportOptions, type ImportReport, importServers, type TakenServer } from './import/import-servers.ts';
export {
  type ImportSettingsOptions,
  importSettings,
  type SettingsReport,
  type TakenRule,
} from './import/import-settings.ts';
export { initProject } from './init-project.ts';
export type { LineStream } from './line-input.ts';
export type { LoadProjectOptions, Project } from './load-project.ts';
export { loadProject } from './load-project.ts';
export type { ListedServer, PluginServers } from './load-servers.ts';
export { type Added, type OwnServers, type OwnServersOptions, ownServers } from './own-servers.ts';
export { pinnedPackage } from './package-pins.ts';
export type { PinSettings } from './pin-settings.ts';
export { type PreviewMapping, previewsFor } from './previews.ts';
export { linePrompter, oneAtATime, type Prompter } from './prompter.ts';
export { questionText } from './question-text.ts';
export { rewriteFile } from './rewrite-file.ts';
export {
  type Lent,
  isLent,
  lendModel,
  type Sampling,
  type SamplingBudget,
  type SamplingOptions,
  samplingTool,
} from './sampling.ts';
export { type ScriptedAnswer, scriptedAsker } from './scripted-asker.ts';
export { scriptedPrompter } from './scripted-prompter.ts';
export type { HttpServerEntry, ServerEntry, StdioServerEntry } from './server-entry.ts';
export { instructionsReason, instructionsSection, type ServerInstructions } from './server-instructions.ts';
export { OWN_SCOPES, type OwnScope, type ServerPlaces, type ServerScope } from './server-places.ts';
export { CLIENT_CAPABILITIES, type ServerRequestsOptions, serverRequests } from './server-requests.ts';
export { type AlwaysAnswer, type TerminalAskerOptions, terminalAsker } from './terminal-asker.ts';
export { type TrustAsker, trustPrompt, trustText } from './trust-prompt.ts';
export { visibleText } from './visible-text.ts';
export { writeUpstreams } from './write-upstream.ts';
