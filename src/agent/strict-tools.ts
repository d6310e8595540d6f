/**
 * Rule of this file: whether a tool is strict is chosen once, and stays: a tool that comes later changes no other's entry,
 * since all of them are the beginning of what the model has cached.
 */
import type { Json, Reason, ToolDefinition } from '../contracts/index.ts';
import {
  BridleError,
  planStrict,
  type StrictChoice,
  type StrictMode,
  type StrictPlan,
  type Strictness,
  type StrictNeeds,
  strictNeeds,
  strictNotices,
} from '../tools/index.ts';
import { isObject } from './blocks.ts';

/** What was chosen for the tools of a run. */
export interface StrictRun {
  /** @param tools those that are there now; of those that weren't before it is chosen now */
  of(tools: readonly ToolDefinition[]): (tool: ToolDefinition) => Strictness;
  /** For the developer, of the tools that the run began with. */
  readonly notices: readonly Reason[];
}

export interface StrictTools {
  /** @param format what the run's answer is held to (`output_config.format`), which counts for the same limits */
  forRun(tools: readonly ToolDefinition[], format: Json | undefined): StrictRun;
  /** What a run without such an answer would begin with. */
  choices(tools: readonly ToolDefinition[]): readonly StrictChoice[];
}

const MODES: readonly unknown[] = ['asked', 'auto', 'off'];

interface Chosen {
  readonly fingerprint: string;
  readonly choice: StrictChoice;
}

/**
 * The choices of an agent, run after run: what was chosen for a tool holds as long as it stays as it is.
 *
 * @throws BridleError `strict_invalid`
 */
export function strictTools(mode: StrictMode = 'asked'): StrictTools {
  if (!MODES.includes(mode)) {
    throw new BridleError('strict_invalid', `strict is ${JSON.stringify(mode)}, which is none of its values.`, {
      hint: "It is 'asked', 'auto' or 'off'.",
    });
  }
  /** By what else a request has of the limits, then by name: what was chosen last. */
  const books = new Map<string, Map<string, Chosen>>();
  const bookOf = ({ optional, unions }: StrictNeeds): Map<string, Chosen> => {
    const key = `${optional} ${unions}`;
    const book = books.get(key) ?? new Map<string, Chosen>();
    books.set(key, book);
    return book;
  };
  const fromBook = (tools: readonly ToolDefinition[], beside: StrictNeeds) => {
    const book = bookOf(beside);
    const before = new Map<string, StrictChoice>();
    for (const { ref } of tools) {
      const chosen = book.get(ref.name);
      if (chosen?.fingerprint === ref.fingerprint) before.set(ref.name, chosen.choice);
    }
    return planStrict(tools, mode, { beside, before });
  };
  return {
    forRun(tools, format) {
      const beside = isObject(format) ? strictNeeds(format.schema ?? null) : NOTHING;
      const book = bookOf(beside);
      // Also those that went away since: they stay declared in requests, and count.
      const all = new Map<string, ToolDefinition>();
      let chosen = new Map<string, StrictChoice>();
      const keep = (now: readonly ToolDefinition[], plan: StrictPlan) => {
        for (const tool of now) all.set(tool.ref.name, tool);
        chosen = new Map(plan.choices.map((choice) => [choice.name, choice]));
        for (const { ref } of now) {
          const choice = chosen.get(ref.name);
          if (choice) book.set(ref.name, { fingerprint: ref.fingerprint, choice });
        }
      };
      const first = fromBook(tools, beside);
      keep(tools, first);
      return {
        notices: strictNotices(first),
        of(now) {
          const fresh = now.filter(({ ref }) => !all.has(ref.name));
          if (fresh.length > 0) keep(fresh, planStrict([...all.values(), ...fresh], mode, { beside, before: chosen }));
          return ({ ref }) => {
            // One that came back as another one was chosen for as it was.
            const isSame = all.get(ref.name)?.ref.fingerprint === ref.fingerprint;
            return (isSame && chosen.get(ref.name)?.strictness) || 'loose';
          };
        },
      };
    },
    choices: (tools) => fromBook(tools, NOTHING).choices,
  };
}

const NOTHING: StrictNeeds = { optional: 0, unions: 0 };
