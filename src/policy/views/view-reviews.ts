import type { JsonObject, Store, ToolDefinition } from '../../contracts/index.ts';
import { canonicalJson, sha256 } from '../../tools/index.ts';
import type { PinnedDefinition } from '../pins/pin-record.ts';
import { followTable, tableWriter } from '../table-writer.ts';
import type { View } from './view.ts';
import { reviewOf, type ViewPins } from './view-pins.ts';

/** The definition of a tool over which one view may be used, as it was met first or as somebody accepted it. */
export interface ViewReview {
  readonly v: 1;
  readonly id: string;
  readonly place: string;
  /** The server's key; null for a tool of this process. */
  readonly server: string | null;
  readonly tool: string;
  /** The view's name. */
  readonly view: string;
  readonly reviewed: PinnedDefinition;
}

export interface ViewReviewsOptions {
  /** It stays the caller's to close. */
  readonly store: Store;
  /** Where the views are used, e.g. a project's folder. Default: one place for all. */
  readonly place?: string;
  /** False: what is met is kept in memory alone. Default true. */
  readonly record?: boolean;
  /** Unix milliseconds. Default `Date.now`. */
  readonly now?: () => number;
}

/** Reviews of views that last, and that other processes of the same store hold to. */
export interface ViewReviews extends ViewPins {
  list(): readonly ViewReview[];
  /**
   * The reviews that count for a view: its own, or of a view that has none those of all other views of the same tool,
   * oldest first. So a new name is no new look: it is used where nobody ever reviewed the tool as anything else.
   */
  of(view: View): readonly ViewReview[];
  /**
   * Agrees to a view over a definition, in place of what was agreed to before.
   *
   * @param definition that the person has looked at, as it is listed now
   */
  accept(view: View, definition: ToolDefinition, options: { readonly by: string }): Promise<ViewReview>;
  /** Waits until what was met is written. Rejects with what the store rejects with. */
  settled(): Promise<void>;
  /** Stops following what other processes agree to. */
  close(): void;
}

/**
 * Keeps in a store over which definition of its tool each view may be used: the first that it meets, and from then on
 * what somebody accepts. Give it to `createViewSet` as `pins`.
 *
 * @throws what the store throws
 */
export async function viewReviews({
  store,
  place = '',
  record: isRecording = true,
  now = Date.now,
}: ViewReviewsOptions): Promise<ViewReviews> {
  const table = store.table<ViewReview>('view-reviews', { v: 1 });
  const records = new Map<string, ViewReview>();
  const kept = {
    set: (id: string, review: ViewReview) => void records.set(id, review),
    drop: (id: string) => void records.delete(id),
  };
  const unwatch = await followTable(table, place, kept);
  const writer = isRecording ? tableWriter(table, kept) : undefined;
  /** Met without being kept: it counts here, and is new to whoever looks next. */
  const glimpsed = new Map<string, ViewReview>();

  const made = (view: View, { definition, fingerprint }: Reviewed, by?: string): ViewReview => ({
    v: 1,
    id: reviewId(place, view),
    place,
    server: view.server,
    tool: view.tool,
    view: view.name,
    reviewed: { fingerprint, definition, at: now(), ...(by !== undefined && { by }) },
  });
  const counting = (view: View): readonly ViewReview[] => {
    const own = records.get(reviewId(place, view));
    if (own) return [own];
    const others = [...records.values()].filter(({ server, tool }) => server === view.server && tool === view.tool);
    return others.sort((a, b) => a.reviewed.at - b.reviewed.at);
  };

  return {
    of: counting,
    accepted(view) {
      const seen = glimpsed.get(reviewId(place, view));
      return (seen ? [seen] : counting(view)).map(({ reviewed }) => reviewed.fingerprint);
    },
    met(view, definition) {
      const review = made(view, reviewOf(definition));
      const known = records.get(review.id);
      const isKnown = (one: ViewReview) => one.reviewed.fingerprint === review.reviewed.fingerprint;
      if (known && isKnown(known)) return;
      // The person's own file says which one counts.
      const isOwnWord = view.upstream !== undefined && view.fromProject !== true;
      if (known && !isOwnWord) return;
      if (!writer) {
        glimpsed.set(review.id, review);
        return;
      }
      records.set(review.id, review);
      writer.write(review.id, (there) => (there && (!isOwnWord || isKnown(there)) ? undefined : review));
    },
    list: () => [...records.values()],
    async accept(view, definition, { by }) {
      const review = made(view, reviewOf(definition), by);
      for (;;) {
        const there = await table.get(review.id);
        if (await table.put(review.id, review, there?.rev ?? null)) break;
      }
      records.set(review.id, review);
      glimpsed.delete(review.id);
      return review;
    },
    settled: async () => writer?.settled(),
    close: unwatch,
  };
}

interface Reviewed {
  readonly definition: JsonObject;
  readonly fingerprint: string;
}

/** The same for the same view of the same tool in the same place, however the tool is defined. */
function reviewId(place: string, { server, tool, name }: View): string {
  return sha256(canonicalJson([place, server, tool, name])).slice(0, 32);
}
