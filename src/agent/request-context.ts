import { isStringList } from './blocks.ts';
import type { RequestPart } from './request.ts';

/** `context_management`: what the API itself takes out of the prompt, with the betas for it. */
export const contextPart: RequestPart = ({ config }, body) => {
  const { edits = [], betas = [] } = config.context ?? {};
  if (edits.length === 0) return body;
  const others = isStringList(body.betas) ? body.betas : [];
  return {
    ...body,
    context_management: { edits: [...edits] },
    betas: [...others, ...betas.filter((beta) => !others.includes(beta))],
  };
};
