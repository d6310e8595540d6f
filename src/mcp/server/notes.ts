import type { ToolHost } from '../../contracts/index.ts';
import { printable } from '../../tools/index.ts';
import { ANYONE } from './peer.ts';

const MAX_LENGTH = 2000;

/** Says something to the person who runs the server. stdout is the protocol's, and a client's words may be in it. */
export function note(text: string): void {
  process.stderr.write(`bridle: ${printable(text, { maxLength: MAX_LENGTH })}\n`);
}

/** An author's own preview function can't cross MCP; said once, because its absence is seen only at an approval. */
export function notePreviews(host: ToolHost): void {
  const lost = host.list(ANYONE).filter((tool) => tool.preview?.kind === 'author');
  if (lost.length === 0) return;
  note(
    `the preview function of ${lost.map((tool) => tool.ref.tool).join(', ')} is not served: over MCP a preview is ` +
      'another read-only tool, given as preview: {tool, arguments}',
  );
}
