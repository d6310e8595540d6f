import { loadedEntry } from './deferred-tools.ts';
import type { RequestPart } from './request.ts';
import { entriesOf } from './toolsets.ts';

/** `tools`: in the order in which they came, so that what the model has cached of them stays cached. */
export const toolsPart: RequestPart = (state, body) => {
  const { tools, loaded } = state;
  if (tools.length === 0) return body;
  if (loaded.length === 0) return { ...body, tools: entriesOf(tools) };
  const now = tools.map((tool) =>
    tool.deferred && loaded.includes(tool.name) ? { ...tool, entry: loadedEntry(tool.entry) } : tool,
  );
  return { ...body, tools: entriesOf(now) };
};
