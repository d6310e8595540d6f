/**
 * Rule of this folder: what was promised is on disk before it is answered, and only its owner can read it. Nothing here
 * knows what a tool, a policy or a server is.
 */
export { type Database, openDatabase, type RunResult, type SqlValue, type Statement } from './database.ts';
export { installationKey, keyIfThere } from './installation-key.ts';
export { type LogFolder, type LogFolderOptions, type LogSegment, openLogFolder } from './log-folder.ts';
export { memoryStore } from './memory-store.ts';
export { openStore } from './open-store.ts';
export { configDir, dataDir, makePrivateDir, stateDir } from './places.ts';
export { transaction } from './transaction.ts';
