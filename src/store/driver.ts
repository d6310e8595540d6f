import type { Database } from './database.ts';
import { storeError } from './store-error.ts';

/** What `node:sqlite` and its prebuilt stand-in export, as far as we use it. */
export interface SqliteModule {
  readonly DatabaseSync: new (file: string) => Database;
}

/** A variable, not a literal, so that the type check passes where the optional package isn't installed. */
const STAND_IN = '@photostructure/sqlite';

function isSqliteModule(module: unknown): module is SqliteModule {
  return (
    typeof module === 'object' &&
    module !== null &&
    'DatabaseSync' in module &&
    typeof module.DatabaseSync === 'function'
  );
}

/**
 * Node says once per process that its SQLite is experimental, on stderr. We chose it knowingly, so that one sentence is
 * dropped while the module loads; every other warning goes its way.
 */
function withoutSqliteWarning<T>(load: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    const text = typeof warning === 'string' ? warning : warning.message;
    if (text.startsWith('SQLite is an experimental feature')) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function builtIn(): SqliteModule | undefined {
  const module = withoutSqliteWarning((): unknown => process.getBuiltinModule('node:sqlite'));
  return isSqliteModule(module) ? module : undefined;
}

async function standIn(): Promise<SqliteModule> {
  try {
    const module: unknown = await import(STAND_IN);
    if (isSqliteModule(module)) return module;
    throw new TypeError(`${STAND_IN} exports no DatabaseSync`);
  } catch (cause) {
    throw noDatabase(process.versions.node, cause);
  }
}

/** Exported for its test: the words in which a missing database is reported. */
export function noDatabase(node: string, cause: unknown): Error {
  return storeError(
    'no_database',
    `Node ${node} has no built-in SQLite, and the optional package ${STAND_IN} is not there or does not load.`,
    `Use Node 22.13 or later, or install it: npm install ${STAND_IN}`,
    cause,
  );
}

/**
 * Node's own SQLite (22.13 and later), else the prebuilt package with the same interface.
 *
 * @throws an error with code `no_database` when there is neither
 */
export async function loadSqlite(): Promise<SqliteModule> {
  return builtIn() ?? (await standIn());
}
