import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type {
  Decision,
  Effect,
  Identity,
  Json,
  JsonObject,
  Origin,
  PolicyCall,
  Reason,
  ToolDefinition,
} from '../contracts/index.ts';
import { type AgentFile, MAIN_AGENT, parseJsonc, type Project } from '../host/index.ts';
import { compilePolicy, withViews } from '../policy/index.ts';
import { BridleError, rawFrom, wireName } from '../tools/index.ts';
import { modeFor, policyFor } from './agent-option.ts';
import { viewedTool } from './viewed-tool.ts';

const EXPECTED = ['allow', 'ask', 'deny'] as const;
const EFFECTS = ['read', 'idempotent', 'write'] as const;
const VIA = ['library', 'terminal', 'gateway'] as const;
const KEYS = [
  ...['name', 'tool', 'server', 'effect', 'agent', 'user', 'via', 'scopes'],
  ...['args', 'facts', 'origins', 'labels', 'at', 'expect'],
];
const ORIGIN = /^(user|context|nowhere|result(:.+)?)$/;

/** One line of a table of expectations. */
export interface PolicyCase {
  readonly name: string;
  readonly who: Identity;
  readonly tool: ToolDefinition;
  readonly call: PolicyCall;
  readonly expected: Decision['effect'];
}

export interface CaseResult {
  readonly name: string;
  readonly tool: string;
  readonly expected: Decision['effect'];
  readonly got: Decision['effect'];
  readonly passed: boolean;
  readonly reasons: readonly Reason[];
}

/**
 * Reads a table of expectations.
 *
 * @throws BridleError `config_missing`, `config_not_json` and `policy_case_invalid`, naming the case
 */
export async function readCases(file: string, cwd: string): Promise<readonly PolicyCase[]> {
  const path = resolve(cwd, file);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new BridleError('config_missing', `${path} can't be read.`, { cause, hint: 'Check the path.' });
  }
  const table = parseJsonc(text, path);
  const cases = isObject(table) ? table.cases : undefined;
  if (!Array.isArray(cases) || cases.length === 0) throw wrong('the table', 'has no list "cases"');
  return cases.map((each, at) => readCase(each, `case ${at + 1}`));
}

function readCase(written: Json, place: string): PolicyCase {
  if (!isObject(written)) throw wrong(place, 'is no object');
  const odd = Object.keys(written).find((key) => !KEYS.includes(key));
  if (odd !== undefined) throw wrong(place, `has the key "${odd}"; known are ${KEYS.join(', ')}`);
  const tool = textOf(written, 'tool', place);
  if (tool === undefined) throw wrong(place, 'has no "tool"');
  const name = textOf(written, 'name', place) ?? tool;
  const where = `${place} (${name})`;
  const { args = {}, facts, labels = [] } = written;
  if (!isObject(args)) throw wrong(where, 'has "args" that are no object');
  const origins = written.origins === undefined ? undefined : readOrigins(written.origins, where);
  const at = textOf(written, 'at', where);
  if (at !== undefined && Number.isNaN(Date.parse(at))) throw wrong(where, 'has an "at" that is no date and time');
  return {
    name: `${place}, ${name}`,
    who: readWho(written, where),
    tool: readTool(tool, written, where),
    expected: oneOf(written.expect, EXPECTED, 'expect', where),
    call: {
      args,
      ...(facts !== undefined && { facts }),
      labels: new Set(texts(labels, 'labels', where)),
      ...(origins && { origins }),
      ...(at !== undefined && { at: Date.parse(at) }),
    },
  };
}

function readWho(written: JsonObject, where: string): Identity {
  const user = textOf(written, 'user', where);
  return {
    agent: textOf(written, 'agent', where) ?? MAIN_AGENT,
    via: oneOf(written.via ?? 'terminal', VIA, 'via', where),
    ...(user !== undefined && { user }),
    ...(written.scopes !== undefined && { scopes: texts(written.scopes, 'scopes', where) }),
  };
}

/** A definition as far as rules look at it: they go by name, and modes by effect. */
function readTool(name: string, written: JsonObject, where: string): ToolDefinition {
  const given = textOf(written, 'server', where);
  const [, key = null, rest = name] =
    given === undefined ? (/^mcp__(.+?)__(.+)$/s.exec(name) ?? []) : ['', given, name];
  const server = key === null ? null : ({ key, scope: 'project', fingerprint: key, trustAnnotations: false } as const);
  const effect: Effect = oneOf(written.effect ?? 'write', EFFECTS, 'effect', where);
  const ref = { server, tool: rest, name: wireName(key, rest), fingerprint: '' };
  return { ref, description: '', inputSchema: { type: 'object' }, raw: rawFrom({}), effect };
}

function readOrigins(written: Json, where: string): ReadonlyMap<string, Origin> {
  if (!isObject(written)) throw wrong(where, 'has "origins" that are no object');
  return new Map(
    Object.entries(written).map(([pointer, from]) => {
      if (typeof from !== 'string' || !ORIGIN.test(from)) {
        throw wrong(
          where,
          `has an origin for ${pointer} that is none of user, context, result, result:SERVER, nowhere`,
        );
      }
      return [pointer, originOf(from)];
    }),
  );
}

function originOf(text: string): Origin {
  if (text === 'user' || text === 'context' || text === 'nowhere') return { from: text };
  return { from: 'result', callId: 'test', server: text.startsWith('result:') ? text.slice('result:'.length) : null };
}

/** Decides as a run of that agent would: with its own mode, and without what it doesn't have. */
export async function runCase({ name, who, tool, call, expected }: PolicyCase, project: Project): Promise<CaseResult> {
  const policy = policyOfAgent(agentFile(who.agent, project), project);
  const viewed = viewedTool(tool, call.args, project);
  const { effect: got, reasons } =
    'problem' in viewed
      ? { effect: 'deny' as const, reasons: [viewed.problem] }
      : await policy.decide(who, viewed.tool, call);
  return { name, tool: tool.ref.name, expected, got, passed: got === expected, reasons };
}

export function agentFile(name: string, { agents }: Pick<Project, 'agents'>): AgentFile | undefined {
  return agents.find(({ agent, state }) => agent?.name === name && state === 'ready')?.agent;
}

/** The policy of a project's rules as it holds for one agent, of a view under both names; undefined: the main one. */
export function policyOfAgent(agent: AgentFile | undefined, project: Project) {
  const mode = modeFor(agent, project.mode);
  const { policy } = compilePolicy(project.layers, { root: project.root, ...(mode !== undefined && { mode }) });
  return withViews(policyFor(agent, policy));
}

function textOf(written: JsonObject, key: string, where: string): string | undefined {
  const value = written[key];
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw wrong(where, `has a "${key}" that is no text`);
}

function texts(value: Json, key: string, where: string): readonly string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw wrong(where, `has "${key}" that is no list of texts`);
}

function oneOf<T extends string>(value: Json | undefined, known: readonly T[], key: string, where: string): T {
  const found = known.find((each) => each === value);
  if (found === undefined) throw wrong(where, `has no "${key}" that is one of ${known.join(', ')}`);
  return found;
}

function wrong(where: string, what: string): BridleError {
  return new BridleError('policy_case_invalid', `In the table of expectations, ${where} ${what}.`, {
    hint: 'docs/test-your-rules.md shows a whole table.',
  });
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
