import { visibleText } from '../host/index.ts';
import { viewSummary } from '../policy/index.ts';
import type { ViewState, ViewStateName } from './view-state.ts';

const WORDS: Readonly<Record<ViewStateName, string>> = {
  in_use: 'in use',
  changed: 'changed',
  misfit: 'misfit',
  invalid: 'invalid',
  name_taken: 'name taken',
  tool_missing: 'no tool',
  server_missing: 'no server',
  server_not_ready: 'not ready',
};

/** One view on a line, with what hinders it on the next. */
export function viewLine(one: ViewState): string {
  const { view, name, state, why, heldBack } = one;
  const version = view.version === undefined ? '' : ` (version ${visibleText(view.version)})`;
  const over = `${visibleText(view.tool)} of ${visibleText(view.server ?? 'this process')}`;
  const lines = [`${WORDS[state].padEnd(10)}  ${visibleText(name)}${version}: over ${over}`];
  // What changed, and what to do, is said by show.
  if (state === 'changed')
    lines.push(`  the tool behind it has changed since the view was reviewed: bridle views show ${visibleText(name)}`);
  else if (why) lines.push(`  ${visibleText(why.text)}`);
  if (heldBack) lines.push(`  ${heldText(one)}`);
  return lines.join('\n');
}

/** Everything that somebody needs to say whether the view still fits. Unseen characters stand as their escapes. */
export function viewText(state: ViewState): string {
  const { view, of, fingerprint, made, misfit, why } = state;
  const lines = [viewLine(state)];
  if (view.source) lines.push(`  stands in ${visibleText(view.source.file)}, line ${view.source.line ?? '?'}`);
  const taken = viewSummary(view);
  lines.push(...block('it takes away', taken.length > 0 ? taken : ['nothing; it only says it in other words']));
  if (made) {
    const { title, description, inputSchema } = made;
    const told = { name: made.ref.name, ...(title !== undefined && { title }), description, inputSchema };
    lines.push(...block('the model reads', JSON.stringify(told, null, 2).split('\n')));
  }
  if (misfit && misfit.text !== why?.text)
    lines.push(...block('accepted as it is now it would not fit', [misfit.text]));
  if (of && fingerprint !== undefined) {
    lines.push(...behind(state));
    lines.push(`  the tool behind it is now ${fingerprint.slice(0, 12)}${reviewed(state)}`);
  }
  if (state.state === 'changed' && !misfit) {
    lines.push(`  it still fits? bridle views accept ${visibleText(state.name)} --seen ${fingerprint?.slice(0, 12)}`);
  }
  return `${lines.join('\n')}\n`;
}

function behind({ state, changes, of }: ViewState): readonly string[] {
  if (changes) return block('changed behind it', changes);
  if (state !== 'changed' || !of) return [];
  const whole = JSON.stringify(of.raw.parse(), null, 2).split('\n');
  return block('what it was is not known here; it is now', whole);
}

function reviewed({ review, view, fingerprint }: ViewState): string {
  const parts: string[] = [];
  if (review) {
    const { at, by, fingerprint: seen } = review.reviewed;
    const day = new Date(at).toISOString().slice(0, 16).replace('T', ' ');
    const how = by === undefined ? `met first ${day}` : `accepted ${day} by ${visibleText(by)}`;
    parts.push(seen === fingerprint ? `as ${how}` : `and ${how} as ${seen.slice(0, 12)}`);
  }
  if (view.upstream !== undefined) {
    const what =
      view.upstream === fingerprint ? 'as its "upstream" says' : `its "upstream" says ${view.upstream.slice(0, 12)}`;
    parts.push(what);
  }
  return parts.length === 0 ? ', and was never met in a run' : `, ${parts.join(', ')}`;
}

/** Of a view whose tool the pins hold back: what to do about that. */
export function heldText({ of, heldBack }: ViewState): string {
  const name = visibleText(of?.ref.name ?? '');
  const how =
    heldBack?.code === 'pin_changed' ? `agree: bridle pins accept ${name}` : visibleText(heldBack?.text ?? '');
  return `the tool behind it is held back by its pin, too; ${how}`;
}

function block(title: string, lines: readonly string[]): readonly string[] {
  return [`  ${title}:`, ...lines.map((line) => `    ${visibleText(line)}`)];
}
