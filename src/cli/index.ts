/**
 * Rule of this folder: parse, call, print. A command wires the rooms together and owns no behaviour of its own; the
 * answer goes to stdout, everything else to stderr.
 */
export { main } from './main.ts';
