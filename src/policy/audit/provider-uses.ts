import type { Json } from '../../contracts/index.ts';

export interface ProviderUse {
  readonly id: string;
  readonly name: string;
  readonly server?: string;
  readonly input: Json;
}

/**
 * The tool uses in a reply that the model's provider ran by itself: `server_tool_use` and `mcp_tool_use` blocks of the
 * Messages API.
 */
export function providerUses(message: Json): readonly ProviderUse[] {
  const content = memberOf(message, 'content');
  if (!Array.isArray(content)) return [];
  return content.flatMap((block) => {
    const type = memberOf(block, 'type');
    if (type !== 'server_tool_use' && type !== 'mcp_tool_use') return [];
    const server = memberOf(block, 'server_name');
    return [
      {
        id: textOf(memberOf(block, 'id')),
        name: textOf(memberOf(block, 'name')),
        ...(typeof server === 'string' && { server }),
        input: memberOf(block, 'input') ?? null,
      },
    ];
  });
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
