import { isAbsolute, resolve } from 'node:path';
import type { Reason } from '../contracts/index.ts';
import { expand, MODEL_KEYS } from './expand.ts';
import type { StdioEntry } from './mcp-json.ts';
import { hostReason } from './reason.ts';
import type { ServerScope } from './server-places.ts';

/** A server ready to be connected to, in the shape that the stdio client takes. */
export interface ServerEntry {
  readonly key: string;
  readonly scope: ServerScope;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute. */
  readonly cwd: string;
  readonly era: 'auto' | 'legacy' | 'modern';
  readonly trustAnnotations: boolean;
  /** Milliseconds. */
  readonly startMs?: number;
  readonly idleMs?: number;
  readonly hardMs?: number;
  readonly source: NonNullable<Reason['source']>;
}

/**
 * Expands an entry's strings and resolves its folder.
 *
 * @param variables what may be expanded
 * @param root the project's folder: the working directory unless the entry names one
 */
export function expandEntry(
  entry: StdioEntry,
  scope: ServerEntry['scope'],
  variables: ReadonlyMap<string, string>,
  root: string,
): { readonly server: ServerEntry; readonly warnings: readonly Reason[] } {
  const warnings: Reason[] = [];
  const expanded = (text: string, where: string, modelKeys = false) => {
    const result = expand(text, variables, { modelKeys });
    for (const note of result.notes) {
      warnings.push(hostReason(note.code, `${where} of "${entry.key}": ${note.text}`, entry.source));
    }
    return result.text;
  };
  const env: Record<string, string> = Object.create(null);
  for (const [name, value] of entry.env) {
    env[name] = expanded(value, `"${name}" in env`, true);
    if (MODEL_KEYS.has(name) && !warnings.some(({ code }) => code === 'model_key')) {
      const text = `"${entry.key}" is given ${name}, a model's key, by its env.`;
      warnings.push(hostReason('model_key', text, entry.source));
    }
  }
  const cwd = expanded(entry.cwd ?? root, 'cwd');
  const server: ServerEntry = {
    key: entry.key,
    scope,
    command: expanded(entry.command, 'command'),
    args: entry.args.map((arg, index) => expanded(arg, `argument ${index + 1}`)),
    env,
    cwd: isAbsolute(cwd) ? cwd : resolve(root, cwd),
    era: entry.era ?? 'auto',
    trustAnnotations: entry.trustAnnotations,
    ...Object.fromEntries(entry.limits),
    source: entry.source,
  };
  return { server, warnings };
}

/** Names of the parent's variables that an entry takes in. */
export function variablesUsed(entry: StdioEntry): readonly string[] {
  const texts = [entry.command, ...entry.args, ...entry.env.values(), entry.cwd ?? ''];
  const none: ReadonlyMap<string, string> = new Map();
  return [...new Set(texts.flatMap((text) => expand(text, none, { modelKeys: true }).uses))];
}
