import type { Node } from 'jsonc-parser';
import type { JsonObject, Reason } from '../contracts/index.ts';
import { parseView, type View, viewReason, viewSummary } from '../policy/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { type ConfigFile, kindOf } from './config-file.ts';
import { jsonOf, type TreeReader } from './config-tree.ts';

/**
 * Reads `views` of a `bridle.json`. A view that isn't understood is a warning, and goes on hiding its tool.
 *
 * @throws BridleError `config_views_unreadable` when it can't be told which tool is meant to be hidden
 * @param nodes what stands under the key, as often as it does
 * @param owner whose file it is: a project's word on `upstream` doesn't stand in for the person's
 */
export function readViews(
  reader: TreeReader,
  [node, again]: readonly Node[],
  owner: 'user' | 'project',
): readonly View[] {
  if (!node) return [];
  const { file } = reader;
  if (again) throw unreadable(file, again, '"views" stands twice, so it is open which one counts.');
  if (node.type !== 'object') {
    throw unreadable(file, node, `"views" is ${kindOf(node)}; an object from name to view is expected.`);
  }
  const views: View[] = [];
  for (const property of node.children ?? []) {
    const [key, value] = property.children ?? [];
    if (!key || !value) continue;
    const name = String(key.value);
    const json = value.type === 'object' ? (jsonOf(value) as JsonObject) : undefined;
    if (typeof json?.tool !== 'string' || typeof json.server !== 'string') {
      const what = `The view "${printable(name, { maxLength: 80 })}" says no "server" and "tool", as in {"server": "web", "tool": "fetch"}.`;
      throw unreadable(file, value, what);
    }
    const named = (value.children ?? []).map(({ children }) => children?.[0]?.value as unknown);
    const unclear = ['server', 'tool'].find((each) => named.indexOf(each) !== named.lastIndexOf(each));
    if (unclear !== undefined) {
      const what = `"${unclear}" of the view "${printable(name, { maxLength: 80 })}" stands twice, so it is open which one counts.`;
      throw unreadable(file, value, what);
    }
    const read = parseView(name, json, { source: file.at(key), fromProject: owner === 'project' });
    const twice = keyTwice(value) ?? (views.some((one) => one.name === read.name) ? read.name : undefined);
    const problem = twice === undefined ? read.problem : `"${twice}" stands twice, so it is open which one counts.`;
    const view: View = { ...read, ...(problem !== undefined && { problem }) };
    if (problem !== undefined) {
      reader.warn(
        'view_invalid',
        key,
        `${viewReason(view, '', `can't be used: ${problem}`).text} The tool stays hidden.`,
      );
    }
    views.push(view);
  }
  return views;
}

function keyTwice(value: Node): string | undefined {
  const open = [value];
  for (let node = open.pop(); node; node = open.pop()) {
    const seen = new Set<string>();
    for (const property of node.type === 'object' ? (node.children ?? []) : []) {
      const name = String(property.children?.[0]?.value);
      if (seen.has(name)) return name;
      seen.add(name);
    }
    open.push(...(node.children ?? []));
  }
  return undefined;
}

function unreadable(file: ConfigFile, node: Node, what: string): BridleError {
  return new BridleError('config_views_unreadable', `${file.path}:${file.at(node).line}: ${what}`, {
    hint: 'Nothing runs before it is known which tools are to be narrowed: correct the file.',
  });
}

/**
 * The views in force, from the strongest layer on. A lower layer neither undoes nor widens a higher one's view: it can't
 * narrow the same tool in another way, nor use its name.
 *
 * @param layers managed, user, local, project
 */
export function mergeViews(layers: readonly (readonly View[])[]): {
  readonly views: readonly View[];
  readonly warnings: readonly Reason[];
} {
  const views: View[] = [];
  const warnings: Reason[] = [];
  for (const layer of layers) {
    const above = [...views];
    for (const view of layer) {
      const first = above.find(
        (one) =>
          one.server === view.server && (one.tool === view.tool || one.name === view.name || one.tool === view.name),
      );
      if (!first) views.push(view);
      else {
        const place = first.source ? ` in ${first.source.file}` : '';
        warnings.push(
          viewReason(view, 'view_already_narrowed', `doesn't count: "${first.name}"${place} goes before it.`),
        );
      }
    }
  }
  return { views, warnings };
}

/** What a person agrees to: what is hidden, and what stands in its place in which words. */
export function viewLines(view: View): readonly string[] {
  const { name, server, tool, title, description, keepsTool } = view;
  const place = keepsTool ? 'beside' : 'in place of';
  return [
    `${place} the tool ${tool} of ${server ?? 'this process'}, the model is shown ${name}:`,
    ...viewSummary(view).map((line) => `  ${line}`),
    ...(title === undefined ? [] : [`  called: ${title}`]),
    ...(description?.split(/\r?\n/).map((line) => `  | ${line}`) ?? []),
    ...(view.examples ? [`  with the examples ${JSON.stringify(view.examples)}`] : []),
  ];
}
