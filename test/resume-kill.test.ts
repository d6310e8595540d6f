import { spawn } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent } from '../src/agent/index.ts';
import { openTrace, readTrace } from '../src/dispatch/index.ts';
import { checkMessagesRequest } from '../src/testing/index.ts';
import { defineTool } from '../src/tools/index.ts';
import { compiled } from './helpers/compiled.ts';
import { ANSWER, type BreakPoint, resultsIn, resumeWorld, WRITES } from './helpers/resume-world.ts';
import { statedCounts } from './helpers/stated-counts.ts';

/** Runs until the journal has so many lines on disk, and then kills itself: no exit handler runs, nothing is flushed. */
const PROGRAM = `
import { appendFileSync } from 'node:fs';
import { createAgent } from './agent/index.js';
import { createTrace } from './dispatch/index.js';
import { defineTool } from './tools/index.js';
import { CONVERSATION, resumeWorld } from './resume-world.js';
const [dir, run, line, mode] = process.argv.slice(2);
const options = { dir, run, agent: 'main', model: 'resumable', task: 'Do it all.' };
const trace = await createTrace(options);
const world = resumeWorld({ createAgent, defineTool }, {
  effect: (text) => appendFileSync(dir + '/' + run + '.effects', text + '\\n'),
  ...(line !== '0' && { breakAt: { line: Number(line), mode } }),
  broken: () => void trace.close().then(() => process.kill(process.pid, 'SIGKILL')),
});
const agent = await world.agent();
await agent.run('Do it all.', { trace: world.journal(trace), conversation: CONVERSATION }).result;
if (line === '0') await trace.close();
`;

const TIMEOUT_MS = 1_200_000;
let dist: string;
let dir: string;
beforeAll(async () => {
  const rooms = [
    'contracts',
    'tools',
    'content',
    'search',
    'store',
    'policy',
    'dispatch',
    'catalog',
    'models',
    'agent',
  ];
  dist = await compiled(rooms);
  dir = await mkdtemp(join(tmpdir(), 'bridle-kill-'));
  const world = await readFile(new URL('helpers/resume-world.ts', import.meta.url), 'utf8');
  const { outputText } = ts.transpileModule(world, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  });
  await writeFile(join(dist, 'resume-world.js'), outputText);
  await writeFile(join(dist, 'run.js'), PROGRAM);
}, TIMEOUT_MS);
afterAll(async () => {
  await rm(dirname(dist), { recursive: true, force: true });
  await rm(dir, { recursive: true, force: true });
});

/** How the process ended: its signal. */
function runUntil(run: string, { line, mode }: BreakPoint): Promise<string | null> {
  const child = spawn(process.execPath, [join(dist, 'run.js'), dir, run, String(line), mode], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_status, signal) => resolve(signal));
  });
}

async function linesOf(file: string): Promise<readonly string[]> {
  const text = await readFile(join(dir, file), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** Goes on with a run in this process, and checks what came of it and of its writes. */
async function goOn(run: string): Promise<void> {
  const asked: string[] = [];
  const world = resumeWorld(
    { createAgent, defineTool },
    {
      effect: (text) => effects.push(text),
      request: (body) => expect(checkMessagesRequest(body)).toEqual([]),
    },
  );
  const effects = [...(await linesOf(`${run}.effects`))];
  const agent = await world.agent();
  const trace = await openTrace({ dir, run });
  const result = await agent.resume(trace, {
    unsure: ({ name, args }) => {
      asked.push(`${name} ${(args as { n: number }).n}`);
      return 'unknown';
    },
  }).result;
  await trace.close();
  await agent.close();
  if (result.error?.code === 'run_not_begun') {
    // Reads leave no trace that is waited for.
    expect(effects.filter((line) => !line.startsWith('look '))).toEqual([]);
    return;
  }
  expect(result, run).toMatchObject({ end: 'answered', text: ANSWER });
  expect(resultsIn(result.messages).size).toBe(9);
  for (const write of WRITES) {
    const times = effects.filter((line) => line === write).length;
    expect(times, `${run}: ${write}`).toBeLessThanOrEqual(1);
    if (times === 0) expect(asked, `${run}: ${write}`).toContain(write);
  }
  const types: string[] = [];
  for await (const { type } of readTrace(trace.path)) types.push(type);
  expect(types.at(-1)).toBe('end');
}

test(
  'a process that is killed after any line of its journal leaves a run that goes on, and no write is made twice',
  async () => {
    await mkdir(dir, { recursive: true });
    expect(await runUntil('whole', { line: 0, mode: 'at_once' })).toBeNull();
    // The header is the process's own; the last line is the end.
    const count = (await linesOf('whole.jsonl')).length - 2;
    expect(count).toBeGreaterThan(40);
    const points: BreakPoint[] = [];
    for (let line = 1; line <= count; line++) points.push({ line, mode: line % 2 === 0 ? 'at_once' : 'late' });
    let killed = 0;
    const work = async () => {
      for (let point = points.pop(); point !== undefined; point = points.pop()) {
        const run = `killed-${point.line}-${point.mode}`;
        expect(await runUntil(run, point)).toBe('SIGKILL');
        killed += 1;
        const lines = await linesOf(`${run}.jsonl`);
        expect(lines).toHaveLength(point.line + 1);
        // As a process leaves it that was killed in the middle of a write.
        if (point.line % 3 === 0) await appendFile(join(dir, `${run}.jsonl`), '{"v":1,"at":17960');
        await goOn(run);
      }
    };
    await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
    expect(killed).toBe(count);
    console.info(`${killed} kill points`);
    expect(statedCounts()).toContain(`${killed} kill points`);
  },
  TIMEOUT_MS,
);
