import type { Catalog, Identity, ListRecord, Policy, Recorder, ToolDefinition } from '../contracts/index.ts';

/** What is recorded of the tools that somebody is shown, or searches among. Where rules hold for some only, each version is named. */
export function listRecord(
  { catalog, policy }: { readonly catalog: Pick<Catalog, 'version'>; readonly policy: Policy },
  who: Identity,
  tools: readonly ToolDefinition[],
  kind: ListRecord['kind'] = 'list',
): ListRecord {
  const versions = new Set(tools.map((tool) => policy.view(who, tool).policyVersion));
  return {
    kind,
    who,
    policyVersion: [...versions].sort().join(' '),
    catalogVersion: catalog.version,
    tools: tools.length,
  };
}

/** Tells a recorder that wants to know. What goes wrong with that costs nobody their list. */
export function recordList(
  recorder: Recorder | undefined,
  of: Parameters<typeof listRecord>[0],
  who: Identity,
  tools: () => readonly ToolDefinition[],
  kind?: ListRecord['kind'],
): void {
  if (!recorder?.listed) return;
  try {
    recorder.listed(listRecord(of, who, tools(), kind));
  } catch {
    // The recorder's own trouble.
  }
}
