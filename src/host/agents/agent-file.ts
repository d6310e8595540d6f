import { basename } from 'node:path';
import type { Json, Reason } from '../../contracts/index.ts';
import { newestClaude } from '../../models/index.ts';
import { restrictionProblems } from '../../policy/index.ts';
import { sha256 } from '../../tools/index.ts';
import { nearestKey } from '../nearest-key.ts';
import { hostReason } from '../reason.ts';
import { AGENT_KEYS, FOREIGN_AGENT_KEYS, SILENT_AGENT_KEYS } from './agent-keys.ts';
import { type FrontMatter, lineOfKey, readFrontMatter } from './front-matter.ts';

/** Which tools an agent may use. Without a word of its file: none. */
export type AgentTools =
  | { readonly kind: 'none' }
  /** Whatever the person has. */
  | { readonly kind: 'inherit' }
  /** In the spelling of rules: `mcp__server`, `mcp__server__tool`, `mcp__server__get_*`. */
  | { readonly kind: 'named'; readonly patterns: readonly string[] };

/** An agent as a file describes it. */
export interface AgentFile {
  readonly name: string;
  readonly description: string;
  /** `project` lies in the project's folder and counts once it is trusted; `user` is the person's own. */
  readonly scope: 'project' | 'user';
  readonly source: { readonly file: string; readonly line?: number };
  /** SHA-256 (hex) of the whole text. */
  readonly hash: string;
  /** The whole file. */
  readonly text: string;
  /** The text below the front matter: what the model is told. */
  readonly instructions: string;
  readonly tools: AgentTools;
  /** Names of tools that are taken away again. */
  readonly except: readonly string[];
  /** Names of the agents that it may start. */
  readonly agents: readonly string[];
  /** As `--model` takes it; undefined: the one in use. */
  readonly model?: string;
  /** Most requests to the model in one run. */
  readonly maxTurns?: number;
  /** A mode that only tightens. */
  readonly mode?: 'plan' | 'dontAsk';
  readonly warnings: readonly Reason[];
}

/** A file that is no agent, and why. */
export interface RefusedAgent {
  readonly source: AgentFile['source'];
  readonly reason: Reason;
}

/** The agent that acts when none is named: it has no file, and what the person has. */
export const MAIN_AGENT = 'main';

/** Names are typed, and shown beside others. */
const NAME = /^[^\p{C}\p{Z}/\\][^\p{C}\p{Zl}\p{Zp}/\\]{0,63}$/u;

/**
 * Reads an agent file: YAML front matter, and instructions below it. Never throws; what is odd is a warning, and what
 * can't be an agent is refused alone.
 *
 * @param file absolute path, for messages
 */
export async function readAgentFile(
  file: string,
  text: string,
  scope: AgentFile['scope'],
): Promise<AgentFile | RefusedAgent> {
  const refuse = (code: string, what: string, line?: number): RefusedAgent => {
    const source = { file, ...(line !== undefined && { line }) };
    return { source, reason: hostReason(code, what, source) };
  };
  const front = await readFrontMatter(text);
  if (!front) {
    return refuse('agent_no_front_matter', 'It does not begin with front matter, which is YAML between lines of ---.');
  }
  const slip = [...front.values.keys()].find(mayMeanDisallowed);
  if (slip !== undefined) {
    const what = `"${slip}" would take no tool away. Write "disallowedTools".`;
    return refuse('agent_key_misspelled', what, lineOfKey(text, slip));
  }
  const warnings: Reason[] = [];
  const say: Say = (code, key, what) =>
    void warnings.push(hostReason(code, what, { file, line: lineOfKey(text, key) }));
  const name = nameOf(front, file, say);
  if (name === undefined) {
    const what = `"name" must be 1 to 64 characters on one line, without a slash.`;
    return refuse('agent_name', what, lineOfKey(text, 'name'));
  }
  if (name === MAIN_AGENT) {
    const what = `"${MAIN_AGENT}" is the agent that acts when none is named: its approvals and rules would hold for both. Give it another name.`;
    return refuse('agent_name_taken', what, lineOfKey(text, 'name'));
  }
  aboutKeys(front, say);
  const model = modelOf(front.values.get('model'), scope, say);
  const maxTurns = turnsOf(front.values.get('maxTurns'), say);
  const mode = modeOf(front.values.get('permissionMode'), say);
  const instructions = front.body.trim();
  if (instructions === '') say('agent_no_instructions', 'name', 'There are no instructions below the front matter.');
  return {
    name,
    description: textOf(front.values.get('description')) ?? '',
    scope,
    source: { file, line: lineOfKey(text, 'name') },
    hash: sha256(text),
    text,
    instructions,
    tools: toolsOf(front.values, say),
    except: exceptOf(front.values.get('disallowedTools'), say),
    agents: namesOf(front.values.get('agents'), 'agents', say),
    ...(model !== undefined && { model }),
    ...(maxTurns !== undefined && { maxTurns }),
    ...(mode !== undefined && { mode }),
    warnings,
  };
}

type Say = (code: string, key: string, text: string) => void;

/** A key under which somebody meant to take tools away, and which would have no effect. */
function mayMeanDisallowed(key: string): boolean {
  if ((AGENT_KEYS as readonly string[]).includes(key) || FOREIGN_AGENT_KEYS.has(key)) return false;
  return /^(dis|not|un)?[_-]?(allow|block|den|forbid)/i.test(key) || nearestKey(key, ['disallowedTools']) !== undefined;
}

function nameOf({ values }: FrontMatter, file: string, say: Say): string | undefined {
  const written = textOf(values.get('name'));
  if (written !== undefined) return NAME.test(written) ? written : undefined;
  const stem = basename(file).replace(/\.md$/i, '');
  say('agent_unnamed', 'name', `It has no "name"; it is called "${stem}", as its file.`);
  return NAME.test(stem) ? stem : undefined;
}

function aboutKeys({ values, asText, twice }: FrontMatter, say: Say): void {
  for (const key of twice) say('duplicate_key', key, `"${key}" stands twice; the last one counts.`);
  for (const key of asText)
    if (key !== 'description') say('agent_not_yaml', key, `"${key}" is no YAML; it is taken as text.`);
  for (const key of values.keys()) {
    if ((AGENT_KEYS as readonly string[]).includes(key) || SILENT_AGENT_KEYS.has(key)) continue;
    const near = nearestKey(key, AGENT_KEYS);
    const advice = FOREIGN_AGENT_KEYS.get(key) ?? (near ? `Did you mean "${near}"?` : '');
    say('unknown_key', key, `"${key}" has no meaning here. ${advice}`.trim());
  }
}

function toolsOf(values: ReadonlyMap<string, Json>, say: Say): AgentTools {
  const written = values.get('tools');
  const names = namesOf(written, 'tools', say);
  if (values.get('inherit') === true || names.some((name) => /^(inherit|\*)$/i.test(name))) return { kind: 'inherit' };
  if (written === undefined) {
    const text = `It has no "tools", so it gets none. Name them, or write "tools: inherit" for all that you have.`;
    say('agent_without_tools', 'name', text);
  }
  if (names.length === 0) return { kind: 'none' };
  const here = names.filter((name) => name.startsWith('mcp__'));
  const elsewhere = names.filter((name) => !name.startsWith('mcp__'));
  if (elsewhere.length > 0) say('agent_tools_without_meaning', 'tools', withoutMeaning('tools', elsewhere));
  for (const { text } of restrictionProblems('named', here)) say('agent_tool_name', 'tools', text);
  return { kind: 'named', patterns: names };
}

function exceptOf(written: Json | undefined, say: Say): readonly string[] {
  const names = namesOf(written, 'disallowedTools', say);
  const elsewhere = names.filter((name) => !name.startsWith('mcp__') && !name.includes('*'));
  if (elsewhere.length > 0)
    say('agent_tools_without_meaning', 'disallowedTools', withoutMeaning('disallowedTools', elsewhere));
  const here = names.filter((name) => name.startsWith('mcp__'));
  for (const { text } of restrictionProblems('except', here)) say('agent_tool_name', 'disallowedTools', text);
  return names;
}

function withoutMeaning(key: string, names: readonly string[]): string {
  return `In "${key}", ${names.join(', ')} ${names.length === 1 ? 'names' : 'name'} no tool of a server; there are no built-in tools of that kind here.`;
}

/** A list of strings, or one string with commas; those in parentheses belong to a name. */
function namesOf(written: Json | undefined, key: string, say: Say): readonly string[] {
  if (written === undefined || written === null) return [];
  const parts: readonly Json[] = Array.isArray(written) ? written : [written];
  const names: string[] = [];
  for (const part of parts) {
    if (typeof part === 'string') names.push(...part.split(/,(?![^(]*\))/).map((name) => name.trim()));
    else say('odd_value', key, `"${key}" holds ${JSON.stringify(part)}, which is no name.`);
  }
  return names.filter((name) => name !== '');
}

function modelOf(written: Json | undefined, scope: AgentFile['scope'], say: Say): string | undefined {
  const text = textOf(written);
  if (text === undefined || /^inherit$/i.test(text)) return undefined;
  if (!/^(offline$|claude-|anthropic:|openai:)/.test(text)) {
    const meant = newestClaude(text) ?? newestClaude('sonnet');
    const what = `"model: ${text}" names no model in full, as "${meant}" does; the one in use is taken.`;
    say('agent_model', 'model', what);
    return undefined;
  }
  // Where a conversation is sent is never a project's to say.
  if (scope === 'project' && text.includes('://')) {
    const what = `"model: ${text}" names an address. A project doesn't say where conversations go; the model in use is taken.`;
    say('agent_model_address', 'model', what);
    return undefined;
  }
  return text;
}

function turnsOf(written: Json | undefined, say: Say): number | undefined {
  if (written === undefined) return undefined;
  if (typeof written === 'number' && Number.isSafeInteger(written) && written > 0) return written;
  say('odd_value', 'maxTurns', `"maxTurns" must be a whole number above 0; it is ignored.`);
  return undefined;
}

function modeOf(written: Json | undefined, say: Say): AgentFile['mode'] {
  const text = textOf(written);
  if (text === undefined || text === 'default') return undefined;
  if (text === 'plan' || text === 'dontAsk') return text;
  const what = `"permissionMode: ${text}" is ignored: a file takes rights away and never gives any. Give --mode.`;
  say('agent_mode', 'permissionMode', what);
  return undefined;
}

function textOf(value: Json | undefined): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
