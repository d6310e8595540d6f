/**
 * Rule of this folder: what a server says of a tool counts as somebody agreed to it, or as it was seen first. What
 * changed since is denied until a person has looked at it; nothing here trusts a server's word that it didn't.
 */
export { definitionDiff } from './definition-diff.ts';
export {
  type LockDifference,
  type LockedDefinition,
  type LockedServer,
  lockDifferences,
  type PinLock,
  pinLock,
  readPinLock,
  type ServerToLock,
} from './pin-lock.ts';
export type { PinnedDefinition, PinRecord } from './pin-record.ts';
export { type PinNews, type Pins, type PinsOptions, pins } from './pins.ts';
export { withPins } from './with-pins.ts';
