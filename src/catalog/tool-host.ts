import type {
  Asker,
  ContentSource,
  Decision,
  IdempotencyLedger,
  Identity,
  ListPages,
  Policy,
  Recorder,
  ServerInfo,
  Source,
  ToolDefinition,
  ToolHost,
} from '../contracts/index.ts';
import {
  createDispatcher,
  type DispatcherOptions,
  idempotencyLedger,
  nullRecorder,
  refuseAsker,
} from '../dispatch/index.ts';
import { allowAll } from '../policy/index.ts';
import { memoryStore } from '../store/index.ts';
import { functionSource } from '../tools/index.ts';
import { type CatalogOptions, createCatalog } from './catalog.ts';
import { createContentCatalog } from './content-catalog.ts';
import { contentHost } from './content-host.ts';
import { recordList } from './list-record.ts';

export interface ToolHostOptions {
  /** What the server says of itself. Default: Bridle's own name and version. */
  readonly info?: ServerInfo;
  /** Tools of this process; listed first. */
  readonly tools?: Parameters<typeof functionSource>[0];
  readonly sources?: readonly Source[];
  /** Resources and prompts, such as `contentSource` makes. Default: none, and the capability isn't offered. */
  readonly content?: readonly ContentSource[];
  /**
   * Who sees a tool; to all others it doesn't exist, beside what the policy hides. Resources and prompts say so themselves.
   * Default: everyone. Pure and quick: asked on each list and call; one that throws hides the tool.
   */
  readonly visible?: (tool: ToolDefinition, who: Identity) => boolean;
  /** Gives long lists in pages of this size. Default: each list is one page, since some clients read only the first. */
  readonly pages?: ListPages;
  /** Default: everything that is offered may be called, and the client that calls decides for its user. */
  readonly policy?: Policy;
  /** Narrower tools in place of some; see `view`. */
  readonly views?: CatalogOptions['views'];
  /** Default: nothing is recorded. */
  readonly recorder?: Recorder;
  /** Default: what the policy wants asked is refused. */
  readonly asker?: Asker;
  readonly limits?: DispatcherOptions['limits'];
  /** Remembers the acts of tools that declare an idempotency key. Default: in memory, for as long as the host lives. */
  readonly idempotency?: IdempotencyLedger;
}

/**
 * What a server author serves: tools behind one list and one dispatcher, and resources and prompts beside them.
 *
 * @example await serve(await toolHost({ tools: [getOrder, refund] }), { stdio: true });
 * @returns a host whose list is filled; a source that could not be listed is missing from it, and listed again when it
 *   reports a change
 */
export async function toolHost(options: ToolHostOptions): Promise<ToolHost> {
  const given = options.policy ?? allowAll();
  const policy = options.visible ? visibleOnly(given, options.visible) : given;
  const own = options.tools ? [functionSource(options.tools)] : [];
  const catalog = createCatalog({
    sources: [...own, ...(options.sources ?? [])],
    policy,
    ...(options.views && { views: options.views }),
  });
  const content = options.content && createContentCatalog({ sources: options.content });
  await Promise.all([catalog.refresh(), content?.refresh()]);
  const dispatcher = createDispatcher({
    find: catalog.find,
    policy,
    asker: options.asker ?? refuseAsker(),
    recorder: options.recorder ?? nullRecorder(),
    idempotency: options.idempotency ?? idempotencyLedger(memoryStore()),
    ...(options.limits && { limits: options.limits }),
  });
  return {
    list: catalog.list,
    find: catalog.shown,
    hasTasks: catalog.hasTasks,
    listed: (who, tools) => recordList(options.recorder, { catalog, policy }, who, () => tools),
    call: dispatcher.call,
    onChange: catalog.onChange,
    ...(content && { content: contentHost(content) }),
    ...(options.info && { info: options.info }),
    ...(options.pages && { pages: options.pages }),
  };
}

const NOT_VISIBLE: Decision = {
  effect: 'deny',
  reasons: [{ room: 'catalog', code: 'not_visible', text: 'This host does not show the tool to this caller.' }],
  policyVersion: 'visible',
};

/** Denies what isn't visible, to be seen as to be called. */
function visibleOnly(policy: Policy, visible: (tool: ToolDefinition, who: Identity) => boolean): Policy {
  const hidden = (tool: ToolDefinition, who: Identity): Decision | undefined => {
    try {
      if (visible(tool, who) === true) return undefined;
    } catch {
      // As one that says no.
    }
    return NOT_VISIBLE;
  };
  return {
    view: (who, tool) => hidden(tool, who) ?? policy.view(who, tool),
    decide: (who, tool, call) => hidden(tool, who) ?? policy.decide(who, tool, call),
  };
}
