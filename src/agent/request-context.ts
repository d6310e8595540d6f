import type { JsonObject } from '../contracts/index.ts';
import { isStringList } from './blocks.ts';
import type { RequestPart } from './request.ts';

/** `context_management`: what the API itself takes out of the prompt, with the betas for it. */
export const contextPart: RequestPart = ({ config }, body) => {
  const { edits = [], betas = [] } = config.context ?? {};
  if (edits.length === 0) return body;
  const others = isStringList(body.betas) ? body.betas : [];
  return {
    ...body,
    context_management: { edits: edits.map((edit) => keepingFound(edit, config.search?.tool)) },
    betas: [...others, ...betas.filter((beta) => !others.includes(beta))],
  };
};

/** What a search found is loaded by its result: without that, the model would have to search again. */
function keepingFound(edit: JsonObject, search: string | undefined): JsonObject {
  if (search === undefined || edit.type !== 'clear_tool_uses_20250919') return edit;
  const kept = isStringList(edit.exclude_tools) ? edit.exclude_tools : [];
  return kept.includes(search) ? edit : { ...edit, exclude_tools: [...kept, search] };
}
