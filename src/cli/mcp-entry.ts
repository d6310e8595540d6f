import type { Json, JsonObject } from '../contracts/index.ts';
import { commandLine } from '../mcp/client/index.ts';

/** An entry as it may be shown: of variables and headers the names, of the rest what holds no secret. */
export interface ShownEntry {
  readonly runs?: string;
  readonly url?: string;
  readonly cwd?: string;
  readonly env?: readonly string[];
  readonly headers?: readonly string[];
}

export function shownEntry(raw: Json): ShownEntry {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return {};
  const { command, args, env, url, headers, cwd } = raw as JsonObject;
  const values = stringsIn(env);
  const hidden = { ...Object.fromEntries(values), ...Object.fromEntries(stringsIn(headers)) };
  const shown = (words: readonly Json[]) => commandLine({ command: '', args: words.map(String), env: hidden }).slice(1);
  return {
    ...(typeof command === 'string' && { runs: shown([command, ...(Array.isArray(args) ? args : [])]) }),
    ...(typeof url === 'string' && { url: shown([url]) }),
    ...(typeof cwd === 'string' && { cwd }),
    ...(values.length > 0 && { env: values.map(([name]) => name) }),
    ...(namesIn(headers).length > 0 && { headers: namesIn(headers) }),
  };
}

function namesIn(value: Json | undefined): readonly string[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

function stringsIn(value: Json | undefined): readonly (readonly [name: string, value: string])[] {
  return namesIn(value).map((name) => [name, String((value as JsonObject)[name])] as const);
}
