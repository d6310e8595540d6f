import { createHash, createHmac } from 'node:crypto';
import type { AskQuestion, Json } from '../../contracts/index.ts';
import { canonicalJson } from '../../tools/index.ts';
import type { Binding } from './record.ts';

export interface BindingContext {
  readonly place: string;
  readonly key: string | Uint8Array;
}

/** What of a question an approval is bound to. Digests are keyed, so that a record alone doesn't give arguments away. */
export function bindingOf(
  question: Pick<AskQuestion, 'who' | 'tool' | 'args' | 'behind' | 'facts' | 'factsMissing'>,
  { place, key }: BindingContext,
): Binding {
  const { who, tool, args, behind, facts, factsMissing } = question;
  const { server } = tool.ref;
  const digest = (of: string, value: Json) =>
    createHmac('sha256', key)
      .update(`${of}\n${canonicalJson(value)}`)
      .digest('hex');
  return {
    place,
    agent: who.agent,
    user: who.user ?? null,
    server: server && { key: server.key, fingerprint: server.fingerprint },
    tool: tool.ref.tool,
    definition: tool.ref.fingerprint,
    args: behind === undefined ? digest('args', args) : digest('view args', [args, behind]),
    facts: facts !== undefined ? digest('facts', facts) : factsMissing !== undefined ? 'unknown' : 'none',
  };
}

export function sameBinding(a: Binding, b: Binding): boolean {
  return canonicalJson(a as unknown as Json) === canonicalJson(b as unknown as Json);
}

/** Of one agent, for one tool of one server, in one place; whatever its definition, arguments and facts are. */
export function sameTool(a: Omit<Binding, 'args' | 'facts'>, b: Omit<Binding, 'args' | 'facts'>): boolean {
  return toolKey(a) === toolKey(b);
}

export function sameAgent(a: Omit<Binding, 'args' | 'facts'>, b: Omit<Binding, 'args' | 'facts'>): boolean {
  return agentKey(a) === agentKey(b);
}

type Whose = Pick<Binding, 'place' | 'agent' | 'user'>;

function agentKey({ place, agent, user }: Whose): string {
  return canonicalJson([place, agent, user]);
}

function toolKey({ server, tool, ...whose }: Omit<Binding, 'args' | 'facts'>): string {
  return canonicalJson([agentKey(whose), server && [server.key, server.fingerprint], tool]);
}

/** Ids of one agent begin alike, and so do those for one tool: what a table can list. Nothing is decided by them. */
export function agentPrefix(binding: Whose): string {
  return shortHash(agentKey(binding), 4);
}

function toolPrefix(binding: Omit<Binding, 'args' | 'facts'>): string {
  return `${agentPrefix(binding)}${shortHash(toolKey(binding), 4)}`;
}

/**
 * The id for the nth approval of the same binding. Two processes that ask the same question at once come to the same
 * id, so that only one of them makes the record.
 *
 * @param nth from 1
 */
export function approvalId(binding: Binding, nth: number): string {
  const id = `${toolPrefix(binding)}-${shortHash(canonicalJson(binding as unknown as Json), 8)}`;
  return nth === 1 ? id : `${id}-${nth}`;
}

export function alwaysId(
  binding: Omit<Binding, 'args' | 'facts'>,
  when: readonly (readonly [string, string])[],
): string {
  const what = canonicalJson([binding.definition, when.map(([pointer, pattern]) => [pointer, pattern])]);
  return `always-${toolPrefix(binding)}-${shortHash(what, 8)}`;
}

/** Lower-case letters and digits that nobody takes for each other (Crockford's base 32). */
const LETTERS = '0123456789abcdefghjkmnpqrstvwxyz';

function shortHash(text: string, length: number): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, length);
  return [...bytes].map((byte) => LETTERS[byte % 32]).join('');
}
