import type { Json, JsonObject } from '../../contracts/index.ts';
import { printable } from '../../tools/index.ts';
import { GATES, type HookAnswer, type HookEvent } from './hook.ts';

/** Longest text of a hook that goes to a model or a person, in characters. */
const LONGEST_TEXT = 10_000;

/** What a hook's output can't be taken for; the message says what is wrong with it. */
export class HookOutputError extends Error {}

/**
 * Reads what a command wrote to stdout when it ended well: the JSON of Claude Code's hooks, or, where a session starts or
 * a prompt is sent, plain text as context for the model.
 *
 * @throws HookOutputError for JSON that isn't an answer to this event
 */
export function readHookOutput(event: HookEvent, stdout: string): HookAnswer {
  const text = stdout.trim();
  if (text === '') return {};
  if (text.startsWith('{')) return readHookJson(event, parse(text));
  if (GATES.has(event) && hasAnswerBehind(text)) {
    throw new HookOutputError('its output has text before the JSON, which is then none');
  }
  return event === 'UserPromptSubmit' || event === 'SessionStart' ? { context: clean(text) } : {};
}

/** Words of a shell's profile, say, before an answer: what it says may not be taken for no objection. */
function hasAnswerBehind(text: string): boolean {
  const at = text.indexOf('\n{');
  if (at === -1) return false;
  try {
    const found = JSON.parse(text.slice(at + 1)) as Json;
    return isObject(found) && MEMBERS.some((name) => Object.hasOwn(found, name));
  } catch {
    return false;
  }
}

/** What decides in a hook's JSON; the rest informs. */
const MEMBERS = ['hookSpecificOutput', 'decision', 'continue'] as const;
const SPECIFIC = ['permissionDecision', 'updatedInput', 'action'] as const;

/** A slip in what decides would be no objection: another spelling of a name, or one where it isn't looked for. */
function assertSpelled(object: JsonObject, names: readonly string[], elsewhere: readonly string[]): void {
  const wrong = Object.keys(object).find(
    (key) => !names.includes(key) && [...names, ...elsewhere].some((name) => plain(name) === plain(key)),
  );
  if (wrong === undefined) return;
  throw new HookOutputError(`its output has ${shown(wrong)} where that decides nothing`);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new HookOutputError('its output begins like JSON, and is none');
  }
}

const PERMISSIONS: ReadonlySet<unknown> = new Set(['allow', 'ask', 'deny', undefined]);

/**
 * What a function returned, once it is known to be an answer: one that can't be told from no objection by a slip, such as
 * `'block'` for `'deny'`, may not be taken for none.
 *
 * @throws HookOutputError
 */
export function readHookAnswer(returned: unknown): HookAnswer {
  if (returned === undefined || returned === null) return {};
  if (typeof returned !== 'object' || Array.isArray(returned)) {
    throw new HookOutputError('it returned neither an answer nor nothing');
  }
  const answer = returned as { readonly [Member in keyof HookAnswer]: unknown };
  const wrong = Object.keys(answer).find((key) => !ANSWER.has(key));
  if (wrong !== undefined)
    throw new HookOutputError(`it returned ${shown(wrong)}, which is nothing that a hook can say`);
  if (!PERMISSIONS.has(answer.permission)) {
    throw new HookOutputError('it returned a permission that is none of allow, ask and deny');
  }
  for (const key of TEXTS) {
    if (answer[key] !== undefined && typeof answer[key] !== 'string')
      throw new HookOutputError(`"${key}" is not a text`);
  }
  const { updatedInput, elicitation } = answer;
  if (updatedInput !== undefined && !isObject(updatedInput as Json)) {
    throw new HookOutputError('"updatedInput" is not an object');
  }
  if (elicitation !== undefined && !isObject(elicitation as Json)) {
    throw new HookOutputError('"elicitation" is not an object');
  }
  if (elicitation !== undefined && elicitationOf(elicitation as JsonObject) === undefined) {
    throw new HookOutputError('"elicitation" has no action');
  }
  return answer as HookAnswer;
}

const TEXTS = ['reason', 'context', 'message', 'stop'] as const;
const ANSWER: ReadonlySet<string> = new Set([...TEXTS, 'permission', 'updatedInput', 'elicitation']);

/** @throws HookOutputError */
function readHookJson(event: HookEvent, output: Json): HookAnswer {
  if (!isObject(output)) throw new HookOutputError('its output is not a JSON object');
  const specific = output.hookSpecificOutput ?? {};
  if (!isObject(specific)) throw new HookOutputError('"hookSpecificOutput" is not an object');
  assertSpelled(output, MEMBERS, event === 'PreToolUse' ? SPECIFIC.slice(0, 2) : []);
  assertSpelled(specific, SPECIFIC, MEMBERS.slice(1));
  const go = output.continue ?? true;
  if (typeof go !== 'boolean') throw new HookOutputError('"continue" is neither true nor false');
  const named = specific.hookEventName;
  if (named !== undefined && named !== event) {
    throw new HookOutputError(`"hookSpecificOutput" is for ${shown(named)}, and this is ${event}`);
  }
  const permission = permissionOf(event, output, specific);
  const reason = textOf(specific, 'permissionDecisionReason') ?? textOf(output, 'reason');
  const context = textOf(specific, 'additionalContext');
  const message = textOf(output, 'systemMessage');
  const updatedInput = event === 'PreToolUse' ? inputOf(specific) : undefined;
  const elicitation = event === 'Elicitation' ? elicitationOf(specific) : undefined;
  return {
    ...(permission && { permission }),
    ...(reason !== undefined && { reason }),
    ...(updatedInput && { updatedInput }),
    ...(context !== undefined && { context }),
    ...(message !== undefined && { message }),
    ...(!go && { stop: textOf(output, 'stopReason') ?? 'A hook ended it.' }),
    ...(elicitation && { elicitation }),
  };
}

/** In the words of today, and in the older ones; the stricter of both where they differ. */
function permissionOf(event: HookEvent, output: JsonObject, specific: JsonObject): HookAnswer['permission'] {
  const said = [specific.permissionDecision, output.decision].map((decision) => permissionNamed(event, decision));
  return (['deny', 'ask', 'allow'] as const).find((permission) => said.includes(permission));
}

/** `defer` leaves a call to whoever goes on with the run later: here that is a question, which a run can wait with. */
function permissionNamed(event: HookEvent, said: Json | undefined): HookAnswer['permission'] {
  switch (said) {
    case undefined:
    case null:
      return undefined;
    case 'allow':
    case 'approve':
      return 'allow';
    case 'ask':
    case 'defer':
      return 'ask';
    case 'deny':
    case 'block':
      return 'deny';
    default:
      throw new HookOutputError(
        `its decision on ${event} is ${shown(said)}; it can be allow, ask, defer, deny or block`,
      );
  }
}

function inputOf(specific: JsonObject): JsonObject | undefined {
  const { updatedInput } = specific;
  if (updatedInput === undefined || updatedInput === null) return undefined;
  if (!isObject(updatedInput)) throw new HookOutputError('"updatedInput" is not an object');
  return updatedInput;
}

function elicitationOf({ action, content }: JsonObject): HookAnswer['elicitation'] {
  if (action === undefined) return undefined;
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel') {
    throw new HookOutputError(`its action is ${shown(action)}; it can be accept, decline or cancel`);
  }
  return { action, ...(content !== undefined && { content }) };
}

function textOf(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new HookOutputError(`"${key}" is not a text`);
  return clean(value);
}

/** A hook's words, as they may be shown and sent. */
function clean(text: string): string {
  return printable(text, { newlines: true, maxLength: LONGEST_TEXT });
}

function shown(value: Json): string {
  return printable(JSON.stringify(value), { maxLength: 80 });
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
