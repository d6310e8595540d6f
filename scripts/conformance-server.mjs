/**
 * `npm run conformance`: runs the server half of the MCP conformance suite against a server written with Bridle
 * (`test/conformance/server.mjs`), by the requirements of both protocol revisions; see docs/conformance.md. Arguments name
 * the scenarios to run. Exit status 1 when one failed that a revision requires; what it doesn't require is told apart.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { conform } from './conformance-requirements.mjs';
import { checkSuite, conclude, root } from './conformance-suite.mjs';

checkSuite();
const wanted = process.argv.slice(2);
const server = spawn(process.execPath, [join(root, 'test', 'conformance', 'server.mjs')], {
  cwd: root,
  stdio: ['pipe', 'pipe', 'inherit'],
});
/** The server says its address first; it ends with its stdin. */
const url = await new Promise((resolve, reject) => {
  createInterface({ input: server.stdout }).once('line', resolve);
  server.once('error', reject).once('exit', () => reject(new Error('The server ended before it said its address.')));
});

try {
  const { count, lines } = await conform(url, wanted);
  for (const line of lines) console.log(line);
  conclude(count);
} finally {
  server.stdin.end();
}
