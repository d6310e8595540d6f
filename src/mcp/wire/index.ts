/**
 * Rule of this folder: what both ends of the protocol share and neither owns: revisions, codes, lines, and JSON as it was
 * received. Nothing here keeps state of a peer.
 */
export { type FrameReader, frameReader, MAX_FRAME_BYTES } from './frames.ts';
export { afterString, elementSlices, memberSlices, type Slice } from './json-slice.ts';
export {
  CODES,
  LEGACY_REVISION,
  LEGACY_REVISIONS,
  LOG_LEVELS,
  type LogLevel,
  META,
  MODERN_REVISION,
} from './protocol.ts';
