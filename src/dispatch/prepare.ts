import type { Found, Json, JsonObject, ToolDefinition } from '../contracts/index.ts';
import {
  asProposed,
  type CaseCorrection,
  compileSchema,
  enumCase,
  noSuchTool,
  type SchemaCheck,
} from '../tools/index.ts';
import { type FixedArguments, fixArguments, isTooDeep, jsonType, withBehind } from './arguments.ts';
import type { Call, Ended, Path, Prepared } from './call-path.ts';
import { isDecision } from './is-decision.ts';
import { jsonErrorAt } from './json-error.ts';
import { cancelled, ended, errorText, failed, issueReasons, reason, refused, shown } from './outcomes.ts';
import { quietly } from './quietly.ts';

/** Longest text of arguments that aren't JSON that the record keeps. */
const MOST_BROKEN_TEXT = 2_000;
/** Most values of one call whose letter case is put right: each is tried. */
const MOST_CORRECTIONS = 100;

/** find → view → arguments → schema. What ends here has touched nothing but the definition. */
export async function prepare(path: Path, call: Call): Promise<Ended | Prepared> {
  const { name } = call.request;
  const parsed = parseArguments(call);
  if (call.signal.aborted) return ended(cancelled(call.signal, 'not_executed'));
  const found = findSafely(path, name);
  if (!found) return ended(noSuchTool(name));
  call.notes.tool = found.tool;
  if (!visible(path, call, found.tool)) return ended(noSuchTool(name));
  if ('stage' in parsed) return parsed;
  const args = await fitted(call, found.tool, parsed);
  if ('stage' in args) return (await inRightCase(call, found, parsed, args)) ?? args;
  return { stage: 'prepared', tool: found.tool, source: found.source, args };
}

/**
 * The call as it was meant, where nothing but the letter case of enum values keeps its arguments from fitting. Done before
 * anything is decided on: what rules, hooks and people see is what runs.
 */
async function inRightCase(
  call: Call,
  { tool, source }: Found,
  parsed: FixedArguments,
  { outcome }: Ended,
): Promise<Prepared | undefined> {
  if (outcome.kind !== 'invalid' || call.request.profile === 'relay') return undefined;
  const meant = enumCase(tool.inputSchema, parsed.value());
  const fixed = meant && fixArguments(meant.args);
  if (!fixed) return undefined;
  const all = await fitted(call, tool, fixed);
  if ('stage' in all || meant.corrections.length > MOST_CORRECTIONS) return undefined;
  const { args, corrections } = await needed(call, tool, all, meant.corrections);
  return { stage: 'prepared', tool, source, args, proposed: { args: parsed, corrections } };
}

/**
 * The arguments with those corrections alone without which they don't fit: what another schema takes as it is written, such
 * as any text beside a few known values, was meant as it is written.
 */
async function needed(
  call: Call,
  tool: ToolDefinition,
  all: FixedArguments,
  corrections: readonly CaseCorrection[],
): Promise<{ readonly args: FixedArguments; readonly corrections: readonly CaseCorrection[] }> {
  let args = all;
  let left = corrections;
  const leaveOut = async (part: readonly CaseCorrection[]): Promise<void> => {
    const without = part.length < left.length ? fixArguments(asProposed(args.value() as JsonObject, part)) : null;
    const fits = without && (await fitted(call, tool, without));
    if (fits && !('stage' in fits)) {
      args = fits;
      left = left.filter((correction) => !part.includes(correction));
    } else if (part.length > 1) {
      const half = Math.ceil(part.length / 2);
      await leaveOut(part.slice(0, half));
      await leaveOut(part.slice(half));
    }
  };
  await leaveOut(corrections);
  return { args, corrections: left };
}

function findSafely(path: Path, name: string): Found | undefined {
  try {
    return path.find(name);
  } catch {
    return undefined;
  }
}

/** A view that can't be had hides the tool: fail closed, and in the same words. The record keeps the true reason. */
function visible(path: Path, call: Call, tool: ToolDefinition): boolean {
  let why = 'it gave an answer that is none';
  try {
    const view: unknown = path.policy.view(call.ctx.who, tool);
    if (isDecision(view)) {
      if (view.effect !== 'deny') return true;
      call.notes.decision = view;
      return false;
    }
    quietly(() => view);
  } catch (error) {
    why = errorText(error);
  }
  const text = `The policy could not say whether "${tool.ref.name}" may be seen: ${why}`;
  call.notes.decision = { effect: 'deny', reasons: [reason('policy_failed', text)], policyVersion: 'unknown' };
  return false;
}

function parseArguments(call: Call): Ended | FixedArguments {
  let value: Json;
  try {
    value = call.request.args.parse();
  } catch {
    const { text } = call.request.args;
    call.notes.args = { value: () => shortened(text) };
    return refused('invalid', [reason('arguments_not_json', notJson(text))]);
  }
  const args = fixArguments(value);
  if (!args) {
    // Recorders go through what they are given: one that can't would leave this call out.
    const kept = isTooDeep(value) ? shortened(call.request.args.text) : value;
    call.notes.args = { value: () => kept };
    const got =
      typeof value === 'object' && value !== null && !Array.isArray(value) ? 'one nested too deeply' : jsonType(value);
    return refused('invalid', [
      reason('arguments_not_object', `The arguments must be a JSON object such as {"name": "value"}; got ${got}.`),
    ]);
  }
  call.notes.args = args;
  return args;
}

function shortened(text: string): string {
  return text.length > MOST_BROKEN_TEXT ? `${text.slice(0, MOST_BROKEN_TEXT)}…` : text;
}

function notJson(text: string): string {
  const again = 'Send the whole call again, with one JSON object.';
  if (text.trim() === '') return `The arguments are empty, not JSON. ${again}`;
  const error = jsonErrorAt(text);
  if (!error) return `The arguments can't be read as JSON. ${again}`;
  const { position, expected } = error;
  const before = JSON.stringify(shown(text.slice(Math.max(0, position - 30), position)));
  const found = position < text.length ? JSON.stringify(shown(text.slice(position, position + 20))) : 'the end';
  const place = `at character ${position}, after ${before}, expected ${expected} but found ${found}`;
  return `The arguments are not valid JSON: ${place}. ${again}`;
}

/**
 * The arguments, held to the tool's schema, or why they don't fit. The relay's profile leaves that to the server, but a
 * view is enforced here in both: with what the tool behind it is to get.
 */
export async function fitted(call: Call, tool: ToolDefinition, args: FixedArguments): Promise<Ended | FixedArguments> {
  const { narrows } = tool;
  if (!narrows) return (await misfit(call, tool, args)) ?? args;
  const mapped = await narrows.arguments(args.value(), call.ctx.who);
  if ('issues' in mapped) return refused('invalid', issueReasons(mapped.issues));
  const behind = fixArguments(mapped.args);
  return behind ? withBehind(args, behind) : refused('invalid', [reason('invalid_argument', NOT_BEHIND)]);
}

const NOT_BEHIND = 'The arguments make none for the tool behind this one.';

async function misfit(call: Call, tool: ToolDefinition, args: FixedArguments): Promise<Ended | undefined> {
  if (call.request.profile === 'relay') return undefined;
  const own = tool.ref.server === null || tool.ref.server.scope === 'code';
  let check: SchemaCheck;
  try {
    check = await compileSchema(tool.inputSchema, { origin: own ? 'own' : 'outside' });
  } catch (error) {
    const text = `The input schema of "${tool.ref.name}" can't be used, so its arguments can't be checked and it was not run: ${errorText(error)}`;
    return ended(failed(text, 'not_executed', { category: 'validation' }));
  }
  const issues = check.check(args.value());
  if (issues.length === 0) return undefined;
  return refused('invalid', issueReasons(issues));
}
