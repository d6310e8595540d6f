import { isAbsolute } from 'node:path';
import type { Json, Reason, ToolDefinition } from '../../contracts/index.ts';
import { canonicalJson, inspectSchema, printable, rawFrom, sha256, wireName } from '../../tools/index.ts';
import { keepResult } from './keep-result.ts';
import { narrowSchema } from './narrow-schema.ts';
import type { ArgumentLimit, View } from './view.ts';
import { viewArguments } from './view-arguments.ts';

export interface ApplyOptions {
  /** Absolute: what relative folders and paths are relative to. */
  readonly root?: string;
}

/**
 * The narrower tool that a view makes of a definition. Pure: nothing is asked or looked up before a call.
 *
 * @returns the view as a tool, or why it doesn't fit this definition
 */
export function applyView(
  of: ToolDefinition,
  view: View,
  { root }: ApplyOptions = {},
): { readonly tool: ToolDefinition } | { readonly problem: Reason } {
  if (view.problem !== undefined)
    return { problem: viewReason(view, 'view_invalid', `can't be used: ${view.problem}`) };
  const narrowed = narrowSchema(view, of.inputSchema);
  if ('problem' in narrowed) {
    return { problem: viewReason(view, 'view_does_not_fit', `doesn't fit: ${narrowed.problem}`) };
  }
  const [argument, folder] = root === undefined ? relativeFolder(view) : [];
  if (folder !== undefined) {
    const text = `has the folder "${folder}" for "${argument}", and nobody said where relative paths begin: write it as an absolute one, or give createViewSet a "root".`;
    return { problem: viewReason(view, 'view_does_not_fit', text) };
  }
  const bad = inspectSchema(narrowed.schema);
  if (bad) return { problem: viewReason(view, 'view_does_not_fit', `makes a schema that can't be used. ${bad.text}`) };
  const { server } = of.ref;
  const title = view.title ?? (view.name === of.ref.tool ? of.title : undefined);
  const description = view.description ?? of.description;
  const { examples: _, ...hints } = of.hints ?? {};
  const outputSchema = view.keep ? undefined : of.outputSchema;
  const own = { ...(title !== undefined && { title }), description, inputSchema: narrowed.schema };
  const { schema, offered } = narrowed;
  const between = { view, of, schema, ...(offered && { offered }), ...(root !== undefined && { root }) };
  const tool: ToolDefinition = {
    ...own,
    ref: {
      server,
      tool: view.name,
      name: wireName(server?.key ?? null, view.name),
      fingerprint: sha256(canonicalJson(['view', view.hash, of.ref.fingerprint])),
    },
    ...(outputSchema !== undefined && { outputSchema }),
    ...(of.annotations !== undefined && { annotations: withoutTitle(of.annotations) }),
    raw: rawFrom({
      name: view.name,
      ...own,
      ...(outputSchema !== undefined && { outputSchema }),
      ...(of.annotations !== undefined && { annotations: withoutTitle(of.annotations) }),
    }),
    effect: of.effect,
    ...(of.execution && { execution: of.execution }),
    hints: {
      ...hints,
      ...(view.strict !== undefined && { strict: view.strict }),
      ...(view.examples && { examples: view.examples }),
    },
    narrows: {
      of,
      ...(view.version !== undefined && { version: view.version }),
      summary: viewSummary(view),
      passed: new Set(
        (offered ?? []).flatMap(({ offered: name, behind, limit }) =>
          name === behind && !limit.choices ? [name] : [],
        ),
      ),
      arguments: (args, who) => viewArguments(between, args, who),
      ...(view.keep && { result: (raw, isError) => keepResult(view, raw, isError) }),
    },
  };
  return { tool };
}

function relativeFolder({ arguments: limits }: View): readonly [argument?: string, folder?: string] {
  for (const [name, { inside }] of limits) {
    const folder = inside?.find((each) => !isAbsolute(each));
    if (folder !== undefined) return [name, folder];
  }
  return [];
}

/** A server's title in the annotations would speak in place of the view's. */
function withoutTitle(annotations: Json): Json {
  if (typeof annotations !== 'object' || annotations === null || Array.isArray(annotations)) return annotations;
  const { title: _, ...rest } = annotations;
  return rest;
}

/** What a view takes away, one line each: for people, as plain text. */
export function viewSummary(view: View): readonly string[] {
  const lines = [...view.arguments].map(([name, limit]) => `${name}: ${limitText(limit)}`);
  if (view.keep) lines.push(`of results only ${view.keep.join(', ')}`);
  return lines.map((line) => printable(line, { maxLength: 500 }));
}

function limitText(limit: ArgumentLimit): string {
  const { fixed, values, choices, hosts, schemes, inside } = limit;
  if (limit.remove) return 'removed';
  if (fixed) return 'from' in fixed ? `always the caller's ${fixed.from}` : `always ${JSON.stringify(fixed.value)}`;
  const listed = (what: readonly Json[]) => what.map((each) => JSON.stringify(each)).join(', ');
  const parts = [
    ...(limit.as === undefined ? [] : [`offered as "${limit.as}"`]),
    ...(limit.enum ? [`one of ${listed(limit.enum)}`] : []),
    ...(values === undefined ? [] : [valuesText(values, listed)]),
    ...(choices
      ? [typeof choices === 'function' ? "a choice of the caller's" : `one of ${listed([...choices.keys()])}`]
      : []),
    ...(hosts ? [`${(schemes ?? ['https']).join(' or ')} at ${hosts.map(({ text }) => text).join(', ')}`] : []),
    ...(inside ? [`below ${inside.join(', ')}`] : []),
    ...(['minimum', 'maximum', 'minLength', 'maxLength', 'maxItems'] as const).flatMap((key) =>
      limit[key] === undefined ? [] : [`${key} ${limit[key]}`],
    ),
    ...(limit.default ? [`${JSON.stringify(limit.default.value)} unless given`] : []),
    ...(limit.optional ? ['may be left out'] : []),
  ];
  return parts.length > 0 ? parts.join('; ') : 'reworded';
}

function valuesText(values: NonNullable<ArgumentLimit['values']>, listed: (what: readonly Json[]) => string): string {
  if (typeof values === 'function') return "one of the caller's values";
  return 'from' in values ? `one of the caller's ${values.from}` : `one of ${listed(values)}`;
}

export function viewReason(view: View, code: string, what: string): Reason {
  const server = view.server === null ? 'of this process' : `of server "${printable(view.server, { maxLength: 80 })}"`;
  const label = `The view "${printable(view.name, { maxLength: 80 })}" of "${printable(view.tool, { maxLength: 80 })}" ${server}`;
  return {
    room: 'policy',
    code,
    text: printable(`${label} ${what}`, { maxLength: 2_000 }),
    ...(view.source && { source: view.source }),
  };
}
