/**
 * Rule of this folder: what a server says of a tool counts as somebody agreed to it, or as it was seen first. What
 * changed since is denied until a person has looked at it; nothing here trusts a server's word that it didn't.
 */
export type { PinnedDefinition, PinRecord } from './pin-record.ts';
export { type Pins, type PinsOptions, pins, withPins } from './pins.ts';
