import type { CatalogHandle } from '../catalog/index.ts';
import type { JsonObject, Reason, ToolDefinition } from '../contracts/index.ts';
import {
  allowAll,
  applyView,
  definitionDiff,
  expectedOf,
  reviewOf,
  type View,
  type ViewReview,
} from '../policy/index.ts';
import type { CommandIo } from './command.ts';
import type { Workspace } from './workspace.ts';
import { knownDefinition, viewName } from './workspace-views.ts';

/** How it stands with a view, for a person and for scripts. */
export type ViewStateName =
  | 'in_use'
  | 'changed'
  | 'misfit'
  | 'invalid'
  | 'name_taken'
  | 'tool_missing'
  | 'server_missing'
  | 'server_not_ready';

export interface ViewState {
  readonly view: View;
  /** As the model sees it. */
  readonly name: string;
  readonly state: ViewStateName;
  /** Why it isn't used. */
  readonly why?: Reason;
  /** The tool behind it, as it is listed now. */
  readonly of?: ToolDefinition;
  /** Of that, SHA-256 (hex). */
  readonly fingerprint?: string;
  /** What the view makes of it, or would. */
  readonly made?: ToolDefinition;
  /** Why it would not fit, if it were accepted. */
  readonly misfit?: Reason;
  /** The person's own review, or one of another view of the tool where it has none. */
  readonly review?: ViewReview;
  /** What the tool was when it was reviewed, where that is known, if it was otherwise. */
  readonly before?: JsonObject;
  /** Each place that differs from it. */
  readonly changes?: readonly string[];
  /** Why the pins hold the tool behind it back. */
  readonly heldBack?: Reason;
}

const STATES: ReadonlyMap<string, ViewStateName> = new Map([
  ['view_upstream_changed', 'changed'],
  ['view_does_not_fit', 'misfit'],
  ['view_invalid', 'invalid'],
  ['view_name_taken', 'name_taken'],
]);

/** @param catalog has listed its sources with the views of the workspace */
export async function viewStates(
  workspace: Workspace,
  catalog: Pick<CatalogHandle, 'readiness'>,
  io: Pick<CommandIo, 'env'>,
): Promise<readonly ViewState[]> {
  const states: ViewState[] = [];
  for (const view of workspace.project.views) states.push(await viewState(view, workspace, catalog, io));
  return states;
}

async function viewState(
  view: View,
  workspace: Workspace,
  catalog: Pick<CatalogHandle, 'readiness'>,
  io: Pick<CommandIo, 'env'>,
): Promise<ViewState> {
  const { project, views, pins } = workspace;
  const name = viewName(view);
  const reviews = views.reviews?.of(view) ?? [];
  const found = views.set.outcome(view);
  if (!found) {
    const [review] = reviews;
    return { view, name, ...(review && { review }), ...missing(view, workspace, catalog) };
  }
  const { of, why } = found;
  const { fingerprint, definition } = reviewOf(of);
  // Of several the one that stops it.
  const review = reviews.find(({ reviewed }) => reviewed.fingerprint !== fingerprint) ?? reviews[0];
  const made = applyView(of, view, { root: project.root });
  const expected = why && views.reviews ? expectedOf(view, views.reviews) : [view.upstream ?? []].flat();
  const other = expected.find((one) => one !== fingerprint);
  const before = other === undefined ? undefined : await knownDefinition(other, views.reviews, io, project.root);
  const [heldBack] = pins.wrap(allowAll()).view({ agent: 'main', via: 'terminal' }, of).reasons;
  return {
    view,
    name,
    ...(review && { review }),
    state: why ? (STATES.get(why.code) ?? 'invalid') : 'in_use',
    ...(why && { why }),
    of,
    fingerprint,
    ...('tool' in made ? { made: made.tool } : { misfit: made.problem }),
    ...(before && { before, changes: definitionDiff(before, definition) }),
    ...(heldBack?.code.startsWith('pin') && { heldBack }),
  };
}

function missing(
  view: View,
  { project, views }: Workspace,
  catalog: Pick<CatalogHandle, 'readiness'>,
): Pick<ViewState, 'state' | 'why'> {
  const sources = catalog
    .readiness()
    .map(({ server, state, problem }) => ({ key: server?.key ?? null, state, problem }));
  const mine = sources.filter(({ key }) => key === view.server);
  const late = mine.find(({ state }) => state !== 'ready');
  if (late) return { state: 'server_not_ready', ...(late.problem && { why: late.problem }) };
  const notStarted = project.notStarted.find(({ key }) => key === view.server)?.reasons[0];
  const keys = sources.map(({ key }) => key);
  const aside = views.set.without(keys, keys).find(({ server, tool }) => server === view.server && tool === view.name);
  const why = notStarted ?? aside?.reasons[0];
  return { state: mine.length === 0 ? 'server_missing' : 'tool_missing', ...(why && { why }) };
}
