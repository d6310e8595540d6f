/**
 * Rule of this folder: many sources become one stable list. Its order is deterministic and only grows, no source delays
 * or empties another, and what is missing is visible with its reason.
 */
export { type CatalogHandle, type CatalogOptions, createCatalog } from './catalog.ts';
export { type ContentCatalog, type ContentCatalogOptions, createContentCatalog } from './content-catalog.ts';
export { type ContentHostOptions, contentHost } from './content-host.ts';
export type { ContentSourceStatus } from './content-state.ts';
export type { FoundPrompt, FoundResource, Resolved } from './find-content.ts';
export { listRecord, recordList } from './list-record.ts';
export type { SetAside, SourceReadiness } from './source-state.ts';
export { type ToolHostOptions, toolHost } from './tool-host.ts';
export type { ReadyOptions } from './within-wait.ts';
