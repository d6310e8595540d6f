import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { person } from './helpers/cli-process.ts';
import { cloneInto } from './helpers/clone.ts';
import { bridle } from './helpers/terminal.ts';

test('a session that is not there is told before any server is started', async () => {
  const at = await person();
  try {
    const mark = join(at.cwd, 'started');
    cloneInto(at.cwd, { '.mcp.json': { mcpServers: { x: { command: 'touch', args: [mark] } } } });
    const { status, stderr } = await bridle(['chat', '--resume', 'nope', '--trust-project'], at);
    expect(status).toBe(1);
    expect(stderr).toContain('error (session_not_found)');
    expect(existsSync(mark)).toBe(false);
  } finally {
    await at.remove();
  }
});
