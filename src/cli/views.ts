import { createCatalog } from '../catalog/index.ts';
import { writeUpstreams } from '../host/index.ts';
import { allowAll, type ViewReview, viewSummary } from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { personName } from './approval-inbox.ts';
import type { CommandIo, ParsedCommand } from './command.ts';
import { interruptible } from './interrupt.ts';
import { nearest } from './nearest.ts';
import { flag } from './parse.ts';
import { printJson } from './print-json.ts';
import { seenOption } from './seen-option.ts';
import { type ViewState, viewStates } from './view-state.ts';
import { heldText, viewLine, viewText } from './view-text.ts';
import { VIEWS_VERBS } from './views-verbs.ts';
import { openWorkspace, type Workspace, warn } from './workspace.ts';
import { pinRecords } from './workspace-pins.ts';
import { openReviews } from './workspace-views.ts';

type Verb = (states: readonly ViewState[], parsed: ParsedCommand, io: CommandIo, workspace: Workspace) => Promise<void>;

const VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['list', list],
  ['show', show],
  ['accept', accept],
]);

/** `bridle views <verb>`. */
export async function run(parsed: ParsedCommand, io: CommandIo): Promise<number> {
  const [name = ''] = parsed.positionals;
  const verb = VERBS.get(name);
  if (!verb) {
    const verbs = Object.keys(VIEWS_VERBS);
    const near = nearest(name, verbs);
    throw new BridleError(
      'usage',
      `There is no 'bridle views ${printable(name)}'.${near ? ` Did you mean '${near}'?` : ''}`,
      { hint: `It is one of ${verbs.join(', ')}.` },
    );
  }
  return interruptible(async (signal) => {
    const workspace = await openWorkspace(parsed, io, signal, { pinning: 'look' });
    try {
      const { sources, views } = workspace;
      const catalog = createCatalog({ sources, policy: allowAll(), views: views.set });
      await catalog.refresh(signal);
      signal.throwIfAborted();
      warn(catalog.problems(), io);
      const states = await viewStates(workspace, catalog, io);
      catalog.close();
      await verb(states, parsed, io, workspace);
      return 0;
    } finally {
      await workspace.close();
    }
  }, io);
}

async function list(states: readonly ViewState[], parsed: ParsedCommand, io: CommandIo): Promise<void> {
  const isStopped = flag(parsed, 'stopped');
  const found = states.filter(({ state }) => !isStopped || state === 'changed');
  if (flag(parsed, 'json')) {
    printJson(io, { views: found.map(asJson) }, 2);
    return;
  }
  for (const state of found) io.stdout.write(`${viewLine(state)}\n`);
  if (found.length === 0) io.stdout.write(isStopped ? 'No view is stopped.\n' : 'There are no views here.\n');
}

async function show(states: readonly ViewState[], parsed: ParsedCommand, io: CommandIo): Promise<void> {
  const found = named(states, parsed);
  if (flag(parsed, 'json')) printJson(io, { views: found.map(asJson) }, 2);
  else for (const state of found) io.stdout.write(viewText(state));
}

async function accept(
  states: readonly ViewState[],
  parsed: ParsedCommand,
  io: CommandIo,
  { project: { root }, views }: Workspace,
): Promise<void> {
  const isWritten = flag(parsed, 'write');
  const found = named(states, parsed);
  // All or none of them.
  for (const state of found) refuseUnfit(state, seenOption(parsed), isWritten);
  if (!views.reviews && !isWritten) {
    const [problem] = views.problems;
    throw notAccepted(problem?.text ?? 'Nothing of what views were reviewed against is kept here: the pins are off.', {
      hint: 'Give --write, which puts it into the file of the view.',
    });
  }
  const accepted: { readonly state: ViewState; readonly review?: ViewReview; readonly file?: string }[] = [];
  const kept = views.reviews && (await openReviews(io, root, 'record'));
  try {
    await seenByPins(found, io, root);
    const reviewed = found.flatMap(({ view, fingerprint }) =>
      fingerprint === undefined ? [] : [{ view, fingerprint }],
    );
    // The files first: without them, what is kept would say more than was done.
    const files = isWritten ? await writeUpstreams(reviewed, root) : undefined;
    for (const state of found) {
      const { view, of } = state;
      if (!of) continue;
      const written = files?.get(view);
      const review = await kept?.reviews.accept(view, of, { by: personName() });
      accepted.push({ state, ...(review && { review }), ...(written && { file: written.file }) });
      if (flag(parsed, 'json')) continue;
      io.stdout.write(`Accepted: ${acceptedText(state, written)}`);
    }
  } finally {
    await kept?.close();
  }
  if (flag(parsed, 'json')) {
    const told = accepted.map(({ state, review, file }) => ({
      name: state.name,
      fingerprint: state.fingerprint,
      ...(review && { review }),
      ...(file !== undefined && { file }),
    }));
    printJson(io, { accepted: told }, 2);
  }
}

/** What the pins hold back they have to have seen, for 'bridle pins accept' to agree to it. */
async function seenByPins(states: readonly ViewState[], io: CommandIo, root: string): Promise<void> {
  const held = states.flatMap(({ of, heldBack }) => (of && heldBack?.code === 'pin_changed' ? [of] : []));
  if (held.length === 0) return;
  const { known, close } = await pinRecords(io, root);
  try {
    for (const of of held) known.verdict(of);
  } finally {
    await close();
  }
}

function acceptedText(state: ViewState, written: { readonly file: string; readonly changed: boolean } | undefined) {
  const { name, view, fingerprint = '', changes = [], heldBack } = state;
  const lines = [
    `${printable(name)}, over ${printable(view.tool)} as it is now (${fingerprint.slice(0, 12)})`,
    ...changes.map((line) => `  ${line}`),
    ...(written?.changed ? [`  written to ${printable(written.file)}`] : []),
    ...(written?.changed && view.fromProject
      ? ['  The file is another one now, so this project is asked about again before it is trusted.']
      : []),
    ...(heldBack ? [`  ${heldText(state)}`] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** @throws BridleError `view_not_accepted` where agreeing would not let the view be used, or is to something else */
function refuseUnfit(state: ViewState, seen: string | undefined, isWritten: boolean): void {
  const { view, name, of, fingerprint = '', misfit, why } = state;
  const label = `"${printable(name)}"`;
  if (!of) throw notAccepted(`${label} has no tool behind it now. ${why?.text ?? ''}`);
  if (misfit) throw notAccepted(misfit.text, { hint: 'Change the view so that it fits the tool, then accept it.' });
  if (state.state !== 'in_use' && state.state !== 'changed') throw notAccepted(why?.text ?? `${label} can't be used.`);
  if (seen !== undefined && !fingerprint.startsWith(seen)) {
    throw notAccepted(`The tool behind ${label} is another one now than ${printable(seen)}.`, {
      hint: `Look at it once more: 'bridle views show ${printable(name)}'.`,
    });
  }
  if (!isWritten && view.upstream !== undefined && view.upstream !== fingerprint) {
    throw notAccepted(`"upstream" of ${label} in ${view.source?.file ?? 'its file'} names another definition.`, {
      hint: 'Give --write to change it there, or leave it to whoever keeps that file.',
    });
  }
}

function notAccepted(text: string, options: { readonly hint?: string } = {}): BridleError {
  return new BridleError('view_not_accepted', printable(text.trim()), options);
}

/**
 * What a name or a server's key stands for.
 *
 * @throws BridleError `view_not_found`
 */
function named(states: readonly ViewState[], { positionals: [, what = ''] }: ParsedCommand): readonly ViewState[] {
  const byWire = states.filter(({ name }) => name === what);
  if (byWire.length > 0) return byWire;
  const byName = states.filter(({ view }) => view.name === what || `${view.server}/${view.name}` === what);
  if (byName.length === 1) return byName;
  const ofServer = states.filter(({ view }) => view.server === what);
  if (byName.length === 0 && ofServer.length > 0) return ofServer;
  throw new BridleError(
    'view_not_found',
    byName.length > 1
      ? `"${printable(what)}" stands for several views: ${byName.map(({ name }) => printable(name)).join(', ')}.`
      : `There is no view "${printable(what)}" in this project.`,
    { hint: "'bridle views list' shows what there is." },
  );
}

function asJson(state: ViewState) {
  const { view, name, of, made, why, misfit, review, before: _, heldBack, ...rest } = state;
  return {
    name,
    view: view.name,
    server: view.server,
    tool: view.tool,
    ...(view.version !== undefined && { version: view.version }),
    ...(view.upstream !== undefined && { upstream: view.upstream }),
    ...(view.source && { source: view.source }),
    ...rest,
    takesAway: viewSummary(view),
    ...(why && { why: why.text }),
    ...(misfit && { misfit: misfit.text }),
    ...(heldBack && { heldBack: heldBack.text }),
    ...(review && { reviewed: review.reviewed }),
    ...(made && { model: { title: made.title, description: made.description, inputSchema: made.inputSchema } }),
    ...(of && { definition: of.raw.parse() }),
  };
}
