import type { Json, JsonObject, Reason } from '../../contracts/index.ts';
import { BridleError, printable } from '../../tools/index.ts';
import { GATES, HOOK_EVENTS, type Hook, type HookAnswer, type HookEvent, type HookInput } from './hook.ts';
import { type HookMatcher, readMatcher } from './hook-matcher.ts';
import { readHookAnswer } from './read-answer.ts';

const DEFAULT_TIMEOUT_MS = 60_000;
const LONGEST_TIMEOUT_MS = 10 * 60_000;
/** How long a hook that was told to stop may still take to say something. */
const GRACE_MS = 500;

/** What the hooks of an event said together. */
export interface HookVerdict {
  /** The most restrictive of them: deny, then ask, then allow. */
  readonly permission?: 'allow' | 'ask' | 'deny';
  /** One reason a hook that has something to say on it, in the order of the hooks. */
  readonly reasons: readonly Reason[];
  readonly updatedInput?: JsonObject;
  readonly contexts: readonly string[];
  readonly messages: readonly string[];
  readonly stop?: string;
  readonly elicitation?: NonNullable<HookAnswer['elicitation']>;
  /** How each of them went, in their order. */
  readonly ran: readonly HookRan[];
}

/** How one hook went, for whoever records it. Times in milliseconds. */
export interface HookRan {
  readonly event: HookEvent;
  readonly hook: string;
  readonly ms: number;
  readonly answer?: HookAnswer;
  /** Why it gave no answer. */
  readonly failed?: string;
}

/** All hooks of a session. */
export interface HookSet {
  /** False: `run` has nothing to do for this event. */
  has(event: HookEvent): boolean;
  /**
   * Runs the hooks of the event that are for one of the subjects, side by side, and merges what they say. Never rejects.
   *
   * @param subjects what matchers look at, such as the names of a tool; none: the event has nothing of the kind
   * @param fields the event's own fields
   */
  run(event: HookEvent, subjects: readonly string[], fields: JsonObject, signal: AbortSignal): Promise<HookVerdict>;
  /** What can't be read of them. */
  readonly problems: readonly Reason[];
}

export interface HookSetOptions {
  /** Fields that every event has: `session_id`, `cwd`, `transcript_path`, `permission_mode`. Read anew each time. */
  readonly common?: () => JsonObject;
  /** Told of each hook that ran. What it throws is dropped. */
  readonly onRan?: (ran: HookRan) => void;
  /** Milliseconds; default `Date.now`. */
  readonly now?: () => number;
}

interface Ready {
  readonly hook: Hook;
  readonly matches: HookMatcher;
}

const NOTHING: HookVerdict = { reasons: [], contexts: [], messages: [], ran: [] };

/**
 * @param hooks in the order of their layers: managed, user, project, local, session
 * @throws BridleError `hook_event_unknown` for a hook that would stand guard at nothing
 */
export async function createHookSet(hooks: readonly Hook[], options: HookSetOptions = {}): Promise<HookSet> {
  const now = options.now ?? Date.now;
  const problems: Reason[] = [];
  const ready = new Map<HookEvent, Ready[]>();
  /** Nobody can tell what these are for: they stand before everything, and their yes is for nothing. */
  const vague = new Set<Hook>();
  for (const hook of hooks) {
    assertEvent(hook);
    const { matches, problem } = await readMatcher(hook.matcher);
    if (problem !== undefined) {
      problems.push(unreadable(hook, problem));
      vague.add(hook);
    }
    ready.set(hook.event, [...(ready.get(hook.event) ?? []), { hook, matches }]);
  }

  const runOne = async (hook: Hook, input: HookInput, signal: AbortSignal): Promise<HookRan> => {
    const began = now();
    const end = await answerOf(hook, input, signal);
    const ran: HookRan = { event: hook.event, hook: hook.name, ms: now() - began, ...end };
    try {
      options.onRan?.(ran);
    } catch {
      // Whoever records has no say in what is decided.
    }
    return ran;
  };

  return {
    problems,
    has: (event) => ready.has(event),
    async run(event, subjects, fields, signal) {
      // Where there is nothing that a matcher could look at, as of a prompt, it keeps no hook from standing guard.
      const isFor = ({ matches }: Ready) => subjects.length === 0 || matches(subjects);
      const chosen = once((ready.get(event) ?? []).filter(isFor).map(({ hook }) => hook));
      if (chosen.length === 0) return NOTHING;
      const text = JSON.stringify({ ...options.common?.(), hook_event_name: event, ...fields });
      // Each reads a value of its own: none can change what the next one sees.
      const input = () => JSON.parse(text) as HookInput;
      const ran = await Promise.all(chosen.map((hook) => runOne(hook, input(), signal)));
      const counted = ran.map((one, nth) => (vague.has(chosen[nth] as Hook) ? tightening(one) : one));
      return { ...merge(event, chosen, counted), ran };
    },
  };
}

/** Only a call can be asked about: before anything else an `ask` keeps it from happening. */
function asked(event: HookEvent, permission: HookAnswer['permission']): HookAnswer['permission'] {
  return permission === 'ask' && event !== 'PreToolUse' && GATES.has(event) ? 'deny' : permission;
}

/** Of what a hook answered only what forbids, asks or informs. */
function tightening({ answer, ...ran }: HookRan): HookRan {
  if (!answer) return ran;
  const { permission, updatedInput: _, elicitation, ...rest } = answer;
  return {
    ...ran,
    answer: {
      ...rest,
      ...(permission !== undefined && permission !== 'allow' && { permission }),
      ...(elicitation !== undefined && elicitation.action !== 'accept' && { elicitation }),
    },
  };
}

function assertEvent({ event, name }: Hook): void {
  if ((HOOK_EVENTS as readonly unknown[]).includes(event)) return;
  const text = `The hook "${printable(String(name), { maxLength: 120 })}" is for "${printable(String(event), { maxLength: 80 })}", which is no event.`;
  throw new BridleError('hook_event_unknown', text, { hint: `The events are ${HOOK_EVENTS.join(', ')}.` });
}

function unreadable(hook: Hook, problem: string): Reason {
  const matcher = printable(hook.matcher ?? '', { maxLength: 80 });
  const text = `The matcher "${matcher}" of a ${hook.event} hook can't be read (${printable(problem)}), so the hook runs for everything, and can only forbid or ask.`;
  return { room: 'policy', code: 'hook_matcher_unreadable', text, ...(hook.source && { source: hook.source }) };
}

function once(hooks: readonly Hook[]): Hook[] {
  const seen = new Set<string>();
  return hooks.filter(({ key }) => {
    if (key === undefined) return true;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** Never rejects: a hook that throws, or takes too long, is one that failed. */
function answerOf(hook: Hook, input: HookInput, signal: AbortSignal): Promise<Pick<HookRan, 'answer' | 'failed'>> {
  const ms = Math.min(Math.max(hook.timeoutMs ?? DEFAULT_TIMEOUT_MS, 1), LONGEST_TIMEOUT_MS);
  const stop = new AbortController();
  return new Promise((resolve) => {
    let late: ReturnType<typeof setTimeout> | undefined;
    const end = (how: Pick<HookRan, 'answer' | 'failed'>) => {
      clearTimeout(timer);
      clearTimeout(late);
      signal.removeEventListener('abort', onAbort);
      resolve(how);
    };
    const giveUp = (failed: string) => {
      stop.abort(new Error(failed));
      late = setTimeout(() => end({ failed }), GRACE_MS);
      given = failed;
    };
    let given: string | undefined;
    const timer = setTimeout(() => giveUp(`it took longer than ${ms} ms`), ms);
    const onAbort = () => giveUp('the call was cancelled');
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    const failed = (error: unknown) => end({ failed: given ?? textOf(error) });
    try {
      Promise.resolve(hook.run(input, stop.signal)).then((returned) => {
        if (given !== undefined) return end({ failed: given });
        try {
          end({ answer: readHookAnswer(returned) });
        } catch (error) {
          failed(error);
        }
      }, failed);
    } catch (error) {
      failed(error);
    }
  });
}

function textOf(error: unknown): string {
  return printable(error instanceof Error ? error.message || error.name : String(error), { maxLength: 1_000 });
}

const STRICTNESS = { deny: 2, ask: 1, allow: 0 } as const;

function merge(event: HookEvent, hooks: readonly Hook[], ran: readonly HookRan[]): HookVerdict {
  const reasons: Reason[] = [];
  let permission: HookVerdict['permission'];
  let updatedInput: JsonObject | undefined;
  let stop: string | undefined;
  let elicitation: HookAnswer['elicitation'];
  const tighten = (to: NonNullable<HookVerdict['permission']>) => {
    if (permission === undefined || STRICTNESS[to] > STRICTNESS[permission]) permission = to;
  };
  for (const [nth, { answer, failed }] of ran.entries()) {
    const hook = hooks[nth] as Hook;
    if (failed !== undefined) {
      const effect = GATES.has(event) ? ' What it stands before does not happen.' : '';
      reasons.push(reasonOf(hook, 'hook_failed', `The ${event} hook ${named(hook)} failed: ${failed}.${effect}`));
      if (GATES.has(event)) tighten('deny');
      continue;
    }
    if (!answer) continue;
    // Whoever stops the run doesn't let through what it stands before, whatever else it says.
    const said = answer.stop !== undefined && GATES.has(event) ? 'deny' : asked(event, answer.permission);
    if (said) {
      tighten(said);
      const why = answer.reason ?? answer.stop;
      const does = { allow: 'allows it', ask: 'wants it asked about', deny: 'denies it' }[said];
      const because = why === undefined ? '.' : `: ${why}`;
      reasons.push(reasonOf(hook, `hook_${said}`, `The ${event} hook ${named(hook)} ${does}${because}`));
    }
    stop ??= answer.stop;
    if (answer.updatedInput) {
      if (updatedInput && !sameJson(updatedInput, answer.updatedInput)) {
        tighten('deny');
        const text = `The ${event} hook ${named(hook)} changes the arguments in another way than a hook before it.`;
        reasons.push(reasonOf(hook, 'hook_conflict', text));
      } else updatedInput = answer.updatedInput;
    }
    elicitation = stricter(elicitation, answer.elicitation);
  }
  const answers = ran.flatMap(({ answer }) => (answer ? [answer] : []));
  return {
    ran,
    reasons,
    contexts: answers.flatMap(({ context }) => (context === undefined || context === '' ? [] : [context])),
    messages: answers.flatMap(({ message }) => (message === undefined || message === '' ? [] : [message])),
    ...(permission && { permission }),
    ...(updatedInput && permission !== 'deny' && { updatedInput }),
    ...(stop !== undefined && { stop }),
    ...(elicitation && { elicitation }),
  };
}

/** Of two answers to a question the one that gives less away. */
function stricter(one: HookAnswer['elicitation'], other: HookAnswer['elicitation']): HookAnswer['elicitation'] {
  if (!one || !other) return one ?? other;
  if (one.action !== 'accept') return one;
  return other.action === 'accept' ? one : other;
}

function named({ name }: Hook): string {
  return `"${printable(name, { maxLength: 120 })}"`;
}

function reasonOf(hook: Hook, code: string, text: string): Reason {
  return { room: 'policy', code, text, ...(hook.source && { source: hook.source }) };
}

function sameJson(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
