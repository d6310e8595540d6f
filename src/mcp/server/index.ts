/**
 * Rule of this folder: relay, don't re-type. A tool's result leaves as the host gave it, unknown fields included; what
 * is ours on the wire is the envelope, and stdout belongs to the protocol alone.
 */
export { serve } from './serve.ts';
