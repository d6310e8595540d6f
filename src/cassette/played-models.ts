import type { Json } from '../contracts/index.ts';
import { printable } from '../tools/index.ts';
import type { CassetteEntry } from './entries.ts';
import { type Matcher, matcher, type Taken } from './matcher.ts';
import type { Normalise } from './normalise.ts';

type Exchange = Extract<CassetteEntry, { readonly type: 'messages' }>;

interface Recorded {
  /** Undefined: of the run, and of agents that have its model. */
  readonly agent: string | undefined;
  readonly model: string;
  readonly exchanges: Matcher<Exchange>;
}

interface PlayedModel {
  readonly id: string;
  /** What its requests are called. */
  readonly to: string;
  take(request: Json): Taken<Exchange>;
}

/**
 * The recorded models: that of the run, and those that started agents had of their own, told apart by agent and model.
 *
 * @param model of the run
 */
export function playedModels(model: string, exchanges: readonly Exchange[], then: Normalise, now: Normalise) {
  const byOwner = new Map<string, Exchange[]>();
  for (const each of exchanges) {
    const key = JSON.stringify([each.agent, each.model]);
    byOwner.set(key, [...(byOwner.get(key) ?? []), each]);
  }
  const recorded: Recorded[] = [...byOwner.values()].map((own) => ({
    agent: own[0]?.agent,
    model: own[0]?.model ?? model,
    exchanges: matcher(own, ({ request }) => request, then, now),
  }));
  const none = () => matcher<Exchange>([], ({ request }) => request, then, now);
  const ownerOf = ({ agent, model: id }: Recorded) =>
    agent === undefined
      ? `the run, or with its model, of ${quoted(id)}`
      : `the agent ${quoted(agent)}, of its model ${quoted(id)}`;

  return {
    left: () => recorded.reduce((sum, { exchanges: own }) => sum + own.left(), 0),
    of(of: { readonly agent: string; readonly model?: string } | undefined): PlayedModel {
      const ofAgent = recorded.filter(({ agent }) => agent === of?.agent);
      const id = of === undefined ? model : (of.model ?? ofAgent[0]?.model ?? model);
      const found = of === undefined ? ofAgent[0] : ofAgent.find((each) => each.model === id);
      const own = found?.exchanges ?? none();
      return {
        id,
        to: of === undefined ? 'to the model' : `of the agent ${quoted(of.agent)} to its model ${quoted(id)}`,
        take(request) {
          const taken = own.take(request);
          if (!('problem' in taken)) return taken;
          const others = ofAgent.map((each) => quoted(each.model)).join(' and ');
          if (of !== undefined && !found && others !== '') {
            return { ...taken, problem: `  it was recorded with ${others}` };
          }
          const other = recorded.find((each) => each !== found && each.exchanges.has(request));
          if (other) return { ...taken, problem: `  when it was recorded, this was asked by ${ownerOf(other)}` };
          if (of !== undefined && !found) {
            return { ...taken, problem: '  it was recorded with no model of its own' };
          }
          return taken;
        },
      };
    },
  };
}

function quoted(text: string): string {
  return printable(JSON.stringify(text));
}
