import type { Dispatcher, Json, Outcome, ToolDefinition, ToolHost } from 'bridle/contracts';

export type TableCall = Parameters<Dispatcher['call']>[0];
type Answer = (call: TableCall) => Outcome | Promise<Outcome>;

const raw = (value: Json) => ({ text: JSON.stringify(value), parse: () => value });

export const ok = (value: Json, isError = false): Outcome => ({ kind: 'ok', raw: raw(value), isError });
export const text = (words: string): Outcome => ok({ content: [{ type: 'text', text: words }] });

export interface TableHost extends ToolHost {
  readonly calls: TableCall[];
  /** Adds a tool and says that the list changed. */
  add(name: string, answer: Answer): void;
}

function definition(name: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
  const inputSchema = { type: 'object' };
  return {
    ref: { server: null, tool: name, name, fingerprint: name },
    description: `The tool ${name}.`,
    inputSchema,
    raw: raw({ name, description: `The tool ${name}.`, inputSchema }),
    effect: 'write',
    ...more,
  };
}

/** A host whose every outcome is written down beforehand, to see what serving makes of it. */
export function tableHost(
  answers: Readonly<Record<string, Answer>>,
  definitions: Readonly<Record<string, Partial<ToolDefinition>>> = {},
): TableHost {
  const table = new Map(Object.entries(answers));
  const listeners = new Set<() => void>();
  const calls: TableCall[] = [];
  return {
    calls,
    list: () => [...table.keys()].map((name) => definition(name, definitions[name])),
    async call(call) {
      calls.push(call);
      const answer = table.get(call.name);
      return answer === undefined ? { kind: 'unknown_tool', reasons: [] } : answer(call);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    add(name, answer) {
      table.set(name, answer);
      for (const listener of listeners) listener();
    },
  };
}
