import { defineTool, ToolFailure } from 'bridle';

const MOST_CHARACTERS = 100_000;

/** Fetches whatever it is told to: what a model should not have as it is. */
export const fetchTool = defineTool(
  {
    name: 'fetch',
    description: 'Fetches an address and returns what is there as text.',
    input: {
      type: 'object',
      properties: {
        url: { type: 'string', description: 'The address, http or https.' },
        follow: { type: 'boolean', description: 'Whether redirects are followed. Default: true.' },
      },
      required: ['url'],
    },
    output: {
      type: 'object',
      properties: { address: { type: 'string' }, status: { type: 'integer' }, text: { type: 'string' } },
      required: ['address', 'status', 'text'],
    },
    annotations: { readOnlyHint: true, openWorldHint: true },
  },
  async ({ url, follow = true }, { signal }) => {
    const response = await fetch(url, { redirect: follow ? 'follow' : 'manual', signal });
    if (!response.ok) {
      await response.body?.cancel();
      throw new ToolFailure(`The address answered with status ${response.status}.`);
    }
    const text = (await response.text()).slice(0, MOST_CHARACTERS);
    return { address: response.url, status: response.status, text };
  },
);
