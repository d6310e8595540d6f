/** Fakes for the tests of this folder. */
import type { Identity, Policy, ServerRef, Source, ToolDefinition, ToolListing } from '../contracts/index.ts';
import { canonicalJson, rawFrom, sha256, wireName } from '../tools/index.ts';

export const WHO: Identity = { agent: 'tester', via: 'library' };

export function server(key: string): ServerRef {
  return { key, scope: 'project', fingerprint: sha256(key), trustAnnotations: false };
}

export function tool(name: string, ref: ServerRef | null, description = `The tool ${name}.`): ToolDefinition {
  const raw = { name, description, inputSchema: { type: 'object' } };
  return {
    ref: { server: ref, tool: name, name: wireName(ref?.key ?? null, name), fingerprint: sha256(canonicalJson(raw)) },
    description,
    inputSchema: { type: 'object' },
    raw: rawFrom(raw),
    effect: 'write',
  };
}

export interface FakeSource extends Source {
  /** What the next listing gives: tool names, a whole listing, or what a listing does. */
  tools: readonly string[] | ToolListing | ((signal: AbortSignal) => Promise<ToolListing>);
  lists: number;
  changed(): void;
  readonly listeners: ReadonlySet<() => void>;
}

export function fakeSource(key: string | null, tools: FakeSource['tools']): FakeSource {
  const ref = key === null ? null : server(key);
  const listeners = new Set<() => void>();
  return {
    server: ref,
    tools,
    lists: 0,
    listeners,
    async list(signal) {
      this.lists += 1;
      if (typeof this.tools === 'function') return this.tools(signal);
      if ('tools' in this.tools) return this.tools;
      return { tools: this.tools.map((name) => tool(name, ref)), setAside: [] };
    },
    call: async () => ({
      kind: 'result',
      raw: rawFrom({ content: [{ type: 'text', text: `from ${key}` }] }),
      isError: false,
    }),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    changed() {
      for (const listener of listeners) listener();
    },
  };
}

/** Denies the view of tools by name; asks about everything else. */
export function hiding(...names: readonly string[]): Policy {
  const decide: Policy['view'] = (_who, { ref }) => ({
    effect: names.includes(ref.tool) ? 'deny' : 'ask',
    reasons: [{ room: 'policy', code: 'of_a_test', text: `The rule about ${ref.tool}.` }],
    policyVersion: '1',
  });
  return { view: decide, decide };
}

/** A listing that never comes, and takes no notice of being given up. */
export const never = (): Promise<ToolListing> => new Promise(() => {});
