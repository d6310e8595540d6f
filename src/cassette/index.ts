/**
 * Rule of this folder: what is played back is what was recorded, or it is a divergence: nothing is guessed at, nothing is
 * sent anywhere, and no secret is ever written.
 */
export type { CassetteHeader } from './entries.ts';
export {
  type CassettePlayer,
  type PlayedAgent,
  type PlayedConnection,
  type PlayOptions,
  playCassette,
} from './play.ts';
export { type CassetteRecorder, type RecordOptions, recordCassette } from './record.ts';
