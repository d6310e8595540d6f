import type { Found, Identity, Policy, Reason, ToolDefinition } from '../contracts/index.ts';
import { reviewOf } from '../policy/index.ts';
import { printable, WIRE_NAME_LIMIT, wireServerPart } from '../tools/index.ts';
import { nearestNames } from './nearest-names.ts';
import { label, type SetAside, type SourceState, toolLabel } from './source-state.ts';
import type { ToolList } from './tool-list.ts';

export interface Explanation {
  readonly name: string;
  readonly who: Identity;
  readonly list: ToolList;
  readonly states: readonly SourceState[];
  readonly policy: Policy;
}

/**
 * Why a tool is here under this name, or why it isn't. Takes the wire name; a name as its server spells it, or
 * `server/tool`, is understood where no wire name matches. For the person who owns the configuration: it names tools
 * that a rule hides.
 */
export function explainTool(asked: Explanation): readonly Reason[] {
  const found = asked.list.byName.get(asked.name);
  if (found)
    return [
      ...whereFrom(found),
      ...narrowing(found.tool),
      ...naming(found.tool),
      ...seen(asked, found.tool),
      ...stale(asked, found),
    ];
  const spelled = [...asked.list.byName.values()].filter(({ tool }) =>
    spells(asked.name, tool.ref.server?.key, tool.ref.tool),
  );
  if (spelled.length > 0) {
    return spelled.flatMap(({ tool }) => [
      reason('named_otherwise', `${toolLabel(tool)} is called "${tool.ref.name}" here.`),
      ...explainTool({ ...asked, name: tool.ref.name }),
    ]);
  }
  const aside = asked.list.setAside.filter(({ server, tool }) => spells(asked.name, server ?? undefined, tool));
  return aside.length > 0 ? aside.flatMap(setAsideReasons) : unknown(asked);
}

function spells(name: string, server: string | undefined, tool: string): boolean {
  if (name === tool) return true;
  if (server === undefined) return false;
  return (
    name === `${server}/${tool}` ||
    name === `mcp__${server}__${tool}` ||
    name === `mcp__${wireServerPart(server)}__${tool}`
  );
}

function whereFrom({ tool, source }: Found): Reason[] {
  const server = source.server;
  if (server === null) return [reason('defined_here', `${toolLabel(tool)} is defined in this process.`)];
  const text = `${toolLabel(tool)}, which is configured in the ${server.scope} scope.`;
  return [reason('from_server', text), reason('effect', effectText(tool))];
}

/** What a view takes of the tool behind it. */
function narrowing({ narrows }: ToolDefinition): Reason[] {
  if (!narrows) return [];
  const version = narrows.version === undefined ? '' : ` (version ${printable(narrows.version, { maxLength: 80 })})`;
  const text = `It is a view${version} of ${toolLabel(narrows.of)}, which calls are held to.`;
  const { fingerprint } = reviewOf(narrows.of);
  return [
    reason('view', text),
    ...narrows.summary.map((line) => reason('view_limit', `The view: ${line}.`)),
    reason('view_upstream', `"upstream": "${fingerprint}" in the view holds it to the tool as it is now.`),
  ];
}

function effectText({ effect, ref }: ToolDefinition): string {
  const trust = ref.server?.trustAnnotations ? 'its annotations are trusted' : 'its annotations are not trusted';
  return {
    read: 'It is taken to read only.',
    idempotent: 'It is taken to change nothing more when it is repeated.',
    write: `It is taken to change things (${trust}), so it is never repeated by itself.`,
  }[effect];
}

function naming({ ref }: ToolDefinition): Reason[] {
  const plain = ref.server === null ? ref.tool : `mcp__${ref.server.key}__${ref.tool}`;
  if (ref.name === plain) return [];
  const why: string[] = [];
  if (plain.length > WIRE_NAME_LIMIT) why.push(`the whole would be longer than ${WIRE_NAME_LIMIT} characters`);
  if (!/^[a-zA-Z0-9_-]+$/.test(ref.tool))
    why.push('the tool\'s name has characters other than letters, digits, "_" and "-"');
  if (ref.server && wireServerPart(ref.server.key) !== ref.server.key) {
    why.push("the server's key has characters that would make the name ambiguous");
  }
  const because = why.length > 0 ? `, because ${why.join(', and ')}` : '';
  return [
    reason('renamed', `It is called "${ref.name}" here${because}. The end is a hash, so that the name stays unique.`),
  ];
}

function seen({ policy, who }: Explanation, tool: ToolDefinition): Reason[] {
  try {
    const view = policy.view(who, tool);
    const text = {
      allow: `Agent "${printable(who.agent)}" sees it and may call it.`,
      ask: `Agent "${printable(who.agent)}" sees it; a call is asked about first.`,
      deny: `Agent "${printable(who.agent)}" doesn't see it: to that agent it doesn't exist.`,
    }[view.effect];
    return [reason(`view_${view.effect}`, text), ...view.reasons];
  } catch (error) {
    const said = printable(error instanceof Error ? error.message : String(error));
    return [reason('view_failed', `It is hidden, because the policy could not say who may see it: ${said}.`)];
  }
}

/** The tool is there, but from an earlier listing. */
function stale({ states }: Explanation, { source }: Found): Reason[] {
  const problem = states.find((state) => state.source === source)?.problem;
  return problem ? [problem] : [];
}

function setAsideReasons({ server, tool, reasons }: SetAside): Reason[] {
  const whose = server === null ? 'of this process' : `of server "${printable(server)}"`;
  return [
    reason('set_aside', `"${printable(tool)}" ${whose} was set aside: it is not offered to any agent.`),
    ...reasons,
  ];
}

function unknown({ name, list, states }: Explanation): Reason[] {
  const isServer = states.some(({ source }) => source.server?.key === name);
  const near = nearestNames(name, [...list.byName.keys()]);
  const hint = isServer
    ? ` It is a server: its tools are called "mcp__${printable(wireServerPart(name))}__…".`
    : near.length > 0
      ? ` Did you mean ${near.map((one) => `"${one}"`).join(' or ')}?`
      : '';
  const problems = states.flatMap(({ problem }) => (problem ? [problem] : []));
  const isEmpty = ({ problem, listing }: SourceState) =>
    !problem && listing.tools.length === 0 && listing.setAside.length === 0;
  // A server can have several sources: its own tools, and those that read its resources.
  const filled = new Set(states.filter((state) => !isEmpty(state)).map(({ source }) => source.server?.key));
  const open = states.filter((state) => isEmpty(state) && !filled.has(state.source.server?.key));
  return [
    reason('unknown_tool', `No source has a tool named "${printable(name, { maxLength: 120 })}".${hint}`),
    ...problems,
    ...open.map(({ source }) => reason('source_empty', `${label(source)} has no tools.`)),
  ];
}

function reason(code: string, text: string): Reason {
  return { room: 'catalog', code, text };
}
