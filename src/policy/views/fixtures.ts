import type { Identity, Json, ToolDefinition } from '../../contracts/index.ts';
import { tool } from '../fixtures.ts';

/** Makes for the tests of this folder. */
export const ADA: Identity = { agent: 'test', via: 'library', user: 'ada', scopes: ['red', 'blue'] };

export const FETCH_SCHEMA: Json = {
  type: 'object',
  properties: {
    url: { type: 'string', description: 'What to fetch.' },
    follow: { type: 'boolean' },
    format: { type: 'string', enum: ['text', 'html', 'raw'] },
    limit: { type: 'integer', minimum: 1, maximum: 1000 },
    tags: { type: 'array', items: { type: 'string' } },
    owner: { type: 'string' },
  },
  required: ['url'],
};

export function fetchTool(schema: Json = FETCH_SCHEMA): ToolDefinition {
  return { ...tool('web', 'fetch', 'read'), description: 'Fetches anything.', inputSchema: schema };
}

/** The tool that a view makes, or the code of why there is none. */
export function made(result: { readonly tool: ToolDefinition } | { readonly problem: { readonly text: string } }) {
  if ('problem' in result) throw new Error(result.problem.text);
  const { narrows } = result.tool;
  if (!narrows) throw new Error('no view');
  return { tool: result.tool, narrows };
}
