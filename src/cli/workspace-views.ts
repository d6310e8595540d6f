import type { JsonObject, Reason, ToolDefinition } from '../contracts/index.ts';
import type { Project } from '../host/index.ts';
import { createViewSet, pins, type View, type ViewReviews, type ViewSet, viewReviews } from '../policy/index.ts';
import { isBridleError, printable, wireName } from '../tools/index.ts';
import type { CommandIo } from './command.ts';
import { personStore } from './workspace-pins.ts';

/** The project's views, and over which definitions this person uses them. */
export interface WorkspaceViews {
  readonly set: ViewSet;
  /** Undefined: nothing is kept, as the settings say so or there is no database. */
  readonly reviews: ViewReviews | undefined;
  readonly problems: readonly Reason[];
  /**
   * Those whose tool has changed, each with the commands that show it and agree to it.
   *
   * @param met told of each tool that such a view hides
   */
  stopped(met: (of: ToolDefinition) => void): readonly Reason[];
  /** Tells from now on of each view that a new listing stops, and that `stopped` didn't tell of. */
  tell(warning: (reason: Reason) => void, met: (of: ToolDefinition) => void): void;
  close(): Promise<void>;
}

/**
 * Opens the views as the settings of pins say: with pins `off` a view is held to the first definition that it meets in
 * this process, and to its `upstream`.
 *
 * @param how `record`: what is met is kept; `look`: nothing is written; `none`: no tool is listed with views
 * @throws BridleError what the store throws but `no_database`
 */
export async function workspaceViews(
  { views, root, pins: settings }: Project,
  io: Pick<CommandIo, 'env'>,
  how: 'record' | 'look' | 'none',
): Promise<WorkspaceViews> {
  const problems: Reason[] = [];
  const isKept = how !== 'none' && views.length > 0 && (settings.firstUse || settings.locked);
  const opened = isKept ? await openReviews(io, root, how).catch((error) => noDatabase(error, problems)) : undefined;
  const made = createViewSet(views, { root, ...(opened && { pins: opened.reviews }) });
  /** The definitions that each view was told of: a server could change what it says for ever. */
  const told = new Map<View, Set<string>>();
  const isNew = (view: View, { ref }: ToolDefinition) => {
    const known = told.get(view) ?? new Set();
    told.set(view, known);
    return known.size < MOST_TOLD && !known.has(ref.fingerprint) && known.add(ref.fingerprint) !== undefined;
  };
  const stopped = (met: (of: ToolDefinition) => void, only: (view: View, of: ToolDefinition) => boolean) =>
    views.flatMap((view) => {
      const { of, why } = made.outcome(view) ?? {};
      if (of === undefined || why?.code !== 'view_upstream_changed' || !only(view, of)) return [];
      met(of);
      const name = printable(viewName(view));
      const text = `The view "${name}" is stopped: the tool behind it has changed since it was reviewed. Look: bridle views show ${name}; agree: bridle views accept ${name}.`;
      return [{ ...why, text }];
    });
  let listed = () => {};
  const set: ViewSet = {
    ...made,
    apply(server, listing) {
      const viewed = made.apply(server, listing);
      listed();
      return viewed;
    },
  };
  return {
    set,
    reviews: opened?.reviews,
    problems,
    stopped: (met) =>
      stopped(met, (view, of) => {
        isNew(view, of);
        return true;
      }),
    tell(warning, met) {
      let isDue = false;
      listed = () => {
        if (isDue) return;
        isDue = true;
        setImmediate(() => {
          isDue = false;
          for (const reason of stopped(met, isNew)) warning(reason);
        });
      };
    },
    async close() {
      listed = () => {};
      await opened?.close();
    },
  };
}

/** How many definitions of its tool one view is told to be stopped by. */
const MOST_TOLD = 8;

/** The reviews of this person in one place. */
export async function openReviews(
  io: Pick<CommandIo, 'env'>,
  root: string,
  how: 'record' | 'look',
): Promise<{ readonly reviews: ViewReviews; close(): Promise<void> }> {
  const store = await personStore(io, how);
  const reviews = await viewReviews({ store, place: root, record: how === 'record' });
  return {
    reviews,
    async close() {
      reviews.close();
      // What could not be written is met first once more by the next run.
      await reviews.settled().catch(() => {});
      await store.close();
    },
  };
}

/** The definition that a fingerprint stands for, where a review or a pin of this person holds it. */
export async function knownDefinition(
  fingerprint: string,
  reviews: ViewReviews | undefined,
  io: Pick<CommandIo, 'env'>,
  root: string,
): Promise<JsonObject | undefined> {
  const reviewed = reviews?.list().find((one) => one.reviewed.fingerprint === fingerprint);
  if (reviewed || !reviews) return reviewed?.reviewed.definition;
  const store = await personStore(io, 'look');
  try {
    const known = await pins({ store, place: root, record: false });
    known.close();
    const all = known.list().flatMap(({ pinned, seen }) => [pinned ?? [], seen ?? []].flat());
    return all.find((one) => one.fingerprint === fingerprint)?.definition;
  } finally {
    await store.close();
  }
}

/** The name under which a model sees it. */
export function viewName(view: View): string {
  return wireName(view.server, view.name);
}

function noDatabase(error: unknown, problems: Reason[]): undefined {
  if (!isBridleError(error) || error.code !== 'no_database') throw error;
  const text = `What views were reviewed against is not kept: ${error.message} ${error.hint ?? ''}`.trimEnd();
  problems.push({ room: 'cli', code: 'views_not_kept', text });
}
