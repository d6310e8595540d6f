import type { Json } from '../contracts/index.ts';
import { isObject } from './blocks.ts';
import { loadedEntry } from './deferred-entry.ts';
import { leavesOutDeferred } from './found-tools.ts';
import type { RequestPart } from './request.ts';
import { entriesOf } from './toolsets.ts';

/** `tools`: in the order in which they came, so that what the model has cached of them stays cached. */
export const toolsPart: RequestPart = ({ config, tools, loaded }, body) => {
  const sent = leavesOutDeferred(config) ? tools.filter(({ deferred }) => deferred !== true) : tools;
  if (sent.length === 0) return body;
  const now =
    loaded.length === 0
      ? sent
      : sent.map((tool) =>
          tool.deferred && loaded.includes(tool.name) ? { ...tool, entry: loadedEntry(tool.entry) } : tool,
        );
  const entries = entriesOf(now);
  // The API takes no request all of whose tools are deferred.
  return { ...body, tools: entries.every(isDeferred) ? entries.map(loadedEntry) : entries };
};

function isDeferred(entry: Json): boolean {
  return isObject(entry) && entry.defer_loading === true;
}
