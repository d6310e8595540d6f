import type { Identity, Json, JsonObject, NarrowedArguments, ToolDefinition } from '../../contracts/index.ts';
import { compileSchema, isJsonObject, pointerSegment, resolvePointer, type SchemaIssue } from '../../tools/index.ts';
import { checkArgument } from './check-argument.ts';
import type { Offered } from './narrow-schema.ts';
import { isLimited } from './narrow-schema.ts';
import type { View } from './view.ts';

export interface Between {
  readonly view: View;
  /** The tool behind the view. */
  readonly of: ToolDefinition;
  /** The view's own input schema. */
  readonly schema: Json;
  readonly offered?: readonly Offered[];
  /** Absolute. */
  readonly root?: string;
}

/**
 * The arguments for the tool behind a view: held to the view's schema, each to its limit, with the fixed ones put in,
 * and then to the tool's own schema. Never rejects: what can't be checked is refused.
 */
export async function viewArguments(between: Between, args: JsonObject, who: Identity): Promise<NarrowedArguments> {
  try {
    return await mapped(between, args, who);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { issues: [{ path: '', message: `could not be checked against the view: ${why}` }] };
  }
}

async function mapped(between: Between, args: JsonObject, who: Identity): Promise<NarrowedArguments> {
  const { view, of, offered, root } = between;
  const origin = of.ref.server === null || of.ref.server.scope === 'code' ? 'own' : 'outside';
  const misfits = (await compileSchema(between.schema, { origin })).check(args);
  if (misfits.length > 0) return { issues: misfits };
  if (!offered) return { args };
  const names = new Set(offered.map((one) => one.offered));
  const odd = Object.keys(args).find((name) => !names.has(name));
  if (odd !== undefined) return issue(odd, 'is not an argument of this tool');
  const sent: [string, Json][] = [];
  for (const { offered: name, behind, limit } of offered) {
    const value = Object.hasOwn(args, name) ? (args[name] as Json) : limit.default?.value;
    if (value === undefined) {
      // Its schema says so too; nothing rests on a schema alone.
      if (isLimited(limit) && limit.optional !== true) return issue(name, 'is required');
      continue;
    }
    const checked = await checkArgument(limit, value, who, root);
    if ('why' in checked) return issue(name, checked.why);
    sent.push([behind, checked.value]);
  }
  for (const [name, { fixed }] of view.arguments) {
    if (!fixed) continue;
    const value = 'from' in fixed ? resolvePointer(who as unknown as Json, fixed.from) : fixed.value;
    if (value === undefined) {
      const from = 'from' in fixed ? fixed.from : '';
      return { issues: [{ path: '', message: `can't be used by a caller whose identity has no ${from}` }] };
    }
    sent.push([name, value]);
  }
  const behind: unknown = JSON.parse(JSON.stringify(Object.fromEntries(sent)));
  if (!isJsonObject(behind)) return issue('', 'can not be written as JSON');
  const unfit = (await compileSchema(of.inputSchema, { origin })).check(behind);
  return unfit.length > 0 ? { issues: unfitIssues(unfit, view, offered) } : { args: behind };
}

/**
 * What is wrong with the arguments for the tool behind, in words of the view: of an argument that the caller gave, what is
 * wrong with that one. Anything else could name, or show the value of, what the view hides.
 */
function unfitIssues(unfit: readonly SchemaIssue[], view: View, offered: readonly Offered[]): readonly SchemaIssue[] {
  const shown = new Set(offered.map((one) => one.offered));
  const hidden = [...view.arguments.keys()].filter((name) => !shown.has(name));
  const told = unfit.flatMap(({ path, message }) => {
    const [, top, ...rest] = path.split('/');
    const one = offered.find(({ behind }) => pointerSegment(behind) === top);
    if (!one || one.limit.choices || hidden.some((name) => message.includes(name))) return [];
    return [{ path: ['', pointerSegment(one.offered), ...rest].join('/'), message }];
  });
  if (told.length === unfit.length) return told;
  return [...told, { path: '', message: 'the arguments together are not what the tool behind this one takes' }];
}

function issue(name: string, message: string): NarrowedArguments {
  return { issues: [{ path: `/${pointerSegment(name)}`, message }] };
}
