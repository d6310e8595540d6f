/**
 * Rule of this folder: a hook can only tighten. What one says is read the same way however it was said, one that fails
 * keeps from happening what it stands before, and none runs a tool.
 */
export {
  GATES,
  HOOK_EVENTS,
  type Hook,
  type HookAnswer,
  type HookEvent,
  type HookInput,
} from './hook.ts';
export { createHookSet, type HookRan, type HookSet, type HookSetOptions, type HookVerdict } from './hook-set.ts';
export { hooksBefore } from './hooks-before.ts';
export { readHookOutput } from './read-answer.ts';
export { namesOf, withHooks } from './with-hooks.ts';
