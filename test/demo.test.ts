import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Person, person, runBridle } from './helpers/cli-process.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
let who: Person;

beforeEach(async () => {
  who = await person();
});
afterEach(() => who.remove());

test('every command that the demo ends with works where it says', async () => {
  const { status, stdout } = await runBridle(['demo'], { ...who, cwd: root });
  expect(status).toBe(0);
  const [, next = ''] = stdout.split('Try next\n');
  const commands = [...next.matchAll(/^ {2}(?:cd (\S+) && )?npx bridle (.+)$/gm)].map(
    ([, folder = '.', words = '']) => ({
      cwd: join(root, folder),
      args: [...words.matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
    }),
  );
  expect(commands.length).toBeGreaterThan(3);
  for (const { cwd, args } of commands) {
    // Whoever tries it is asked about trust, and puts a file of their own for FILE.
    const asks = args[0] === 'run' || args[0] === 'explain';
    const own = args.map((word) => (word === 'FILE' ? join(who.cwd, '.mcp.json') : word));
    if (args.includes('FILE')) await who.servers({ fixture: who.fixture('sdk-v1.mjs') });
    const ran = await runBridle([...own, ...(asks ? ['--trust-project'] : [])], { ...who, cwd });
    expect(ran.stderr).not.toContain('warning');
    expect(ran.status).toBe(0);
  }
}, 60_000);
