/**
 * Rule of this file: what hooks say reaches the model as a note of the harness, beside what tools and people said and
 * never as if they had said it; and what a hook keeps from happening does not happen.
 */
import type {
  CallContext,
  CallOutcomeRecord,
  HookRecord,
  Identity,
  Json,
  JsonObject,
  Outcome,
  ToolDefinition,
} from '../contracts/index.ts';
import { createHookSet, type Hook, type HookRan, type HookSet, type HookVerdict, namesOf } from '../policy/index.ts';
import { BridleError, compileSchema, harnessNote, isBridleError, printable } from '../tools/index.ts';
import { isObject } from './blocks.ts';
import type { HookListeners } from './hook-listeners.ts';

/** The hooks as given, or as a set that is ready. */
export function hookSetOf(hooks: readonly Hook[] | HookSet | undefined): Promise<HookSet> | HookSet {
  return hooks !== undefined && 'run' in hooks ? hooks : createHookSet(hooks ?? []);
}

export interface AgentHooksOptions {
  readonly hooks: HookSet;
  readonly who: Identity;
  readonly listeners: Pick<HookListeners, 'tell' | 'record'>;
}

/** What a hook made of a run's input. */
export type Submitted =
  | { readonly kind: 'sent'; readonly notes: readonly string[] }
  | {
      readonly kind: 'blocked';
      readonly error: { readonly code: string; readonly message: string; readonly hint: string };
    };

export interface AfterCall {
  readonly notes: readonly string[];
  /** The run is to end, and why. */
  readonly stop?: string;
}

/** The hooks of an agent, by the moments of its runs. */
export interface AgentHooks {
  /** The same hooks, for the policy: those before calls are heard as the others are. */
  readonly guards: HookSet;
  /** Before what a person said goes to the model; the first time in a conversation its session begins. */
  submit(conversation: string, input: Json, isResumed: boolean, signal: AbortSignal): Promise<Submitted>;
  /** After a call that ran. */
  after(call: EndedCall, signal: AbortSignal): Promise<AfterCall>;
  /** Puts the `Elicitation` hooks before whoever answers servers' questions; they may answer where nobody else does. */
  answering(conversation: string, input: CallContext['input']): CallContext['input'];
  /** The session is over; the next one of the agent begins for the reason that this one ended. */
  end(conversation: string, reason: 'clear' | 'resume' | 'prompt_input_exit' | 'other'): Promise<void>;
  /** Every session that is under way is over. */
  endAll(): Promise<void>;
}

export interface EndedCall {
  readonly conversation: string;
  readonly callId: string;
  readonly name: string;
  readonly tool: ToolDefinition | undefined;
  /** As the model wrote them. */
  readonly args: Json;
  readonly outcome: Outcome;
  /** What the dispatcher recorded of it: what it ran with, and whether it ran at all. */
  readonly record?: Pick<CallOutcomeRecord, 'args' | 'answeredBy'> | undefined;
}

const NEVER = new AbortController().signal;
/** Most calls of which something that hooks said before them waits for their end. */
const MOST_WAITING = 1_000;

/** Conversations whose session has begun. They outlive an agent that gives way to one with another model. */
interface Sessions {
  readonly begun: Set<string>;
  nextSource: 'startup' | 'clear';
}

const SESSIONS = new WeakMap<HookSet, Sessions>();

function sessionsOf(hooks: HookSet): Sessions {
  const known = SESSIONS.get(hooks);
  if (known) return known;
  const fresh: Sessions = { begun: new Set(), nextSource: 'startup' };
  SESSIONS.set(hooks, fresh);
  return fresh;
}

export function agentHooks({ hooks, who, listeners }: AgentHooksOptions): AgentHooks {
  const sessions = sessionsOf(hooks);

  const told = (verdict: HookVerdict, conversation: string, callId?: string): HookVerdict => {
    // Nothing else would say what one objects to where it stands in the way of nothing.
    const isTold = isSession(verdict) ? ['hook_failed', 'hook_deny'] : ['hook_failed'];
    const failures = verdict.reasons.filter(({ code }) => isTold.includes(code)).map(({ text }) => text);
    for (const text of [...verdict.messages, ...failures]) listeners.tell(conversation, text);
    for (const ran of verdict.ran) listeners.record(recordOf(ran, conversation, callId));
    return verdict;
  };
  /** What hooks said before a call, for when it is over. */
  const before = new Map<string, AfterCall>();
  const remember = (id: string, { contexts, stop }: HookVerdict): void => {
    if (contexts.length === 0 && stop === undefined) return;
    const known = before.get(id);
    const last = known?.stop ?? stop;
    before.set(id, { notes: [...(known?.notes ?? []), ...contexts], ...(last !== undefined && { stop: last }) });
    for (const oldest of before.keys()) {
      if (before.size <= MOST_WAITING) break;
      before.delete(oldest);
    }
  };
  const guards: HookSet = {
    problems: hooks.problems,
    has: (event) => hooks.has(event),
    async run(event, subjects, fields, signal) {
      const { session_id: conversation, tool_use_id: callId } = fields;
      const verdict = await hooks.run(event, subjects, fields, signal);
      if (typeof conversation !== 'string' || typeof callId !== 'string') return verdict;
      remember(JSON.stringify([conversation, callId]), verdict);
      return told(verdict, conversation, callId);
    },
  };
  const run = async (
    event: Parameters<HookSet['run']>[0],
    subjects: readonly string[],
    conversation: string,
    fields: JsonObject,
    signal: AbortSignal,
    callId?: string,
  ) => {
    const all = { session_id: conversation, agent: who.agent, ...fields };
    return told(await hooks.run(event, subjects, all, signal), conversation, callId);
  };

  const end = async (conversation: string, reason: string): Promise<void> => {
    if (!sessions.begun.delete(conversation)) return;
    if (hooks.has('SessionEnd')) await run('SessionEnd', [reason], conversation, { reason }, NEVER);
  };

  return {
    guards,
    async submit(conversation, input, isResumed, signal) {
      const notes: string[] = [];
      if (!sessions.begun.has(conversation)) {
        sessions.begun.add(conversation);
        const source = isResumed ? 'resume' : sessions.nextSource;
        sessions.nextSource = 'startup';
        if (hooks.has('SessionStart')) {
          const { contexts, stop } = await run('SessionStart', [source], conversation, { source }, signal);
          if (stop !== undefined) {
            // It has not begun: the next prompt asks again.
            sessions.begun.delete(conversation);
            if (source === 'clear') sessions.nextSource = source;
            return blocked(`A SessionStart hook ends it: ${stop}`);
          }
          notes.push(...contexts.map(contextNote));
        }
      }
      const prompt = promptText(input);
      if (prompt === '' || !hooks.has('UserPromptSubmit')) return { kind: 'sent', notes };
      const verdict = await run('UserPromptSubmit', [], conversation, { prompt }, signal);
      if (verdict.permission !== 'deny')
        return { kind: 'sent', notes: [...notes, ...verdict.contexts.map(contextNote)] };
      return blocked(verdict.reasons.map(({ text }) => text).join(' '));
    },
    async after({ conversation, callId, name, tool, args, outcome, record }, signal) {
      const id = JSON.stringify([conversation, callId]);
      const { notes: earlier, stop: ending } = before.get(id) ?? { notes: [] };
      before.delete(id);
      const about = `About the call of ${printable(name, { maxLength: 80 })} (${printable(callId, { maxLength: 80 })})`;
      const noteOf = (text: string) => harnessNote(`${about}, a hook of the person you work for says: ${text}`);
      if (!hooks.has('PostToolUse') || !hasRun(outcome) || record?.answeredBy) {
        return { notes: earlier.map(noteOf), ...(ending !== undefined && { stop: ending }) };
      }
      // A hook or a person may have changed what the model wrote.
      const input = record?.args ?? args;
      const fields = { tool_name: name, tool_input: input, tool_response: responseOf(outcome), tool_use_id: callId };
      const subjects = tool ? namesOf(tool) : [name];
      const verdict = await run('PostToolUse', subjects, conversation, fields, signal, callId);
      const stop = ending ?? verdict.stop;
      const said = [
        ...earlier,
        ...verdict.reasons.filter(({ code }) => code === 'hook_deny').map(({ text }) => text),
        ...verdict.contexts,
      ];
      return { notes: said.map(noteOf), ...(stop !== undefined && { stop }) };
    },
    answering(conversation, input) {
      if (!hooks.has('Elicitation')) return input;
      const others = input ?? nobody;
      return async (request, from) => {
        const asked = elicitation(request.parse());
        if (!asked) return others(request, from);
        const server = from?.server?.key ?? '';
        const fields = { mcp_server_name: server, tool_name: from?.tool ?? '', ...asked.fields };
        const verdict = await run('Elicitation', [server], conversation, fields, from?.signal ?? NEVER);
        if (verdict.permission === 'deny') return { action: 'decline' };
        const answer = verdict.elicitation;
        if (!answer) return others(request, from);
        if (answer.action !== 'accept') return { action: answer.action };
        return { action: 'accept', content: await fitting(answer.content ?? {}, asked.schema) };
      };
    },
    end(conversation, reason) {
      if (reason === 'clear' && sessions.begun.has(conversation)) sessions.nextSource = 'clear';
      return end(conversation, reason);
    },
    async endAll() {
      await Promise.all([...sessions.begun].map((conversation) => end(conversation, 'other')));
    },
  };
}

function isSession({ ran }: HookVerdict): boolean {
  return ran.some(({ event }) => event === 'SessionStart' || event === 'SessionEnd');
}

function blocked(message: string): Submitted {
  const hint = 'Nothing was sent to the model. Say it otherwise, or change the hook.';
  return { kind: 'blocked', error: { code: 'prompt_blocked', message, hint } };
}

function recordOf({ event, hook, ms, answer, failed }: HookRan, conversation: string, callId?: string): HookRecord {
  return {
    conversation,
    ...(callId !== undefined && { callId }),
    event,
    hook,
    ms,
    ...(answer !== undefined && { answer: { ...answer } as JsonObject }),
    ...(failed !== undefined && { failed }),
  };
}

async function nobody(): Promise<never> {
  throw new Error('This host takes no requests from servers.');
}

function contextNote(text: string): string {
  return harnessNote(`A hook of the person you work for says: ${text}`);
}

/** A call that never ran has no result to look at; one that was answered by an earlier call's end has not run either. */
function hasRun(outcome: Outcome): boolean {
  if (outcome.kind === 'ok') return true;
  return (outcome.kind === 'failed' || outcome.kind === 'cancelled') && outcome.failure.executed !== 'not_executed';
}

function responseOf(outcome: Outcome): Json {
  if (outcome.kind === 'ok') {
    try {
      return outcome.raw.parse();
    } catch {
      return outcome.raw.text;
    }
  }
  if (outcome.kind !== 'failed' && outcome.kind !== 'cancelled') return null;
  const { message, executed } = outcome.failure;
  return { isError: true, error: message, executed };
}

/** What a person wrote, without the documents and images beside it. */
function promptText(input: Json): string {
  if (typeof input === 'string') return input;
  if (!Array.isArray(input)) return '';
  return input
    .flatMap((block) =>
      isObject(block) && block.type === 'text' && typeof block.text === 'string' ? [block.text] : [],
    )
    .join('\n');
}

function elicitation(request: Json): { readonly fields: JsonObject; readonly schema: Json } | undefined {
  if (!isObject(request) || request.method !== 'elicitation/create') return undefined;
  const params = isObject(request.params) ? request.params : {};
  const { message = '', mode = 'form', requestedSchema = {}, url, elicitationId } = params;
  return {
    schema: requestedSchema,
    fields: {
      message,
      mode,
      requested_schema: requestedSchema,
      ...(url !== undefined && { url }),
      ...(elicitationId !== undefined && { elicitation_id: elicitationId }),
    },
  };
}

/** A hook's answer is held to what was asked, as a person's is. */
async function fitting(content: Json, schema: Json): Promise<Json> {
  let issues: readonly { readonly path: string; readonly message: string }[];
  try {
    issues = (await compileSchema(schema, { origin: 'outside' })).check(content);
  } catch (error) {
    throw misfit(isBridleError(error) ? error.message : 'what was asked for can not be read');
  }
  if (issues.length > 0)
    throw misfit(issues.map(({ path, message }) => `${path || 'the answer'}: ${message}`).join('; '));
  return content;
}

function misfit(why: string): BridleError {
  return new BridleError('hook_answer_invalid', `An Elicitation hook's answer was not given: ${printable(why)}.`, {
    hint: 'The hook has to answer with content that fits requested_schema, or leave the question to the person.',
  });
}
