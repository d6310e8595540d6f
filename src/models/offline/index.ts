/**
 * Rule of this folder: nothing is invented. Every value that the planner passes to a tool, and every word that it
 * reports of one, comes from the conversation, an earlier result or the tool's own schema; and what it doesn't know, it
 * asks or leaves. No rule here knows a particular tool.
 */
export { type OfflineModelOptions, offlineModel } from './offline-model.ts';
export { type TracedValue, traceValues, type ValueOrigin } from './trace-values.ts';
