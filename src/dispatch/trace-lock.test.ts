import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTrace, openTrace } from './trace.ts';
import { lockTrace } from './trace-lock.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bridle-lock-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const host = hostname().replaceAll(/[^A-Za-z0-9.-]/g, '-');

describe('a lock on a run', () => {
  test('is one at a time, and another run has its own', async () => {
    const first = await lockTrace(dir, 'r1');
    await expect(lockTrace(dir, 'r1')).rejects.toMatchObject({ code: 'trace_busy' });
    await (await lockTrace(dir, 'r10')).release();
    await first.release();
    await (await lockTrace(dir, 'r1')).release();
    expect(readdirSync(dir)).toEqual([]);
  });

  test('of many that come at once one has it at most, and then the next', async () => {
    for (let round = 0; round < 20; round++) {
      const tries = await Promise.allSettled(Array.from({ length: 8 }, () => lockTrace(dir, 'r')));
      const got = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      expect(got.length).toBeLessThanOrEqual(1);
      for (const lock of got) await lock.release();
      await (await lockTrace(dir, 'r')).release();
    }
  });

  test('of a process that was killed is nobody’s', async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    await new Promise((resolve) => child.once('spawn', resolve));
    writeFileSync(join(dir, `r~${host}~${child.pid}~0~abcdef.lock`), '');
    await expect(lockTrace(dir, 'r')).rejects.toMatchObject({ code: 'trace_busy' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    await (await lockTrace(dir, 'r')).release();
    expect(readdirSync(dir)).toEqual([]);
  });

  test('of another machine holds, and the error says what to remove', async () => {
    writeFileSync(join(dir, `r~elsewhere~1~0~abcdef.lock`), '');
    await expect(lockTrace(dir, 'r')).rejects.toMatchObject({
      code: 'trace_busy',
      hint: expect.stringContaining('r~elsewhere~1~0~abcdef.lock'),
    });
  });
});

test('a trace is written by one at a time, and opened again once it is closed', async () => {
  const options = { dir, run: 'r1', agent: 'main', model: 'm', task: 'Go.' };
  await expect(openTrace({ dir, run: 'r1' })).rejects.toMatchObject({ code: 'trace_not_found' });
  const trace = await createTrace(options);
  await expect(createTrace(options)).rejects.toMatchObject({ code: 'trace_busy' });
  await expect(openTrace({ dir, run: 'r1' })).rejects.toMatchObject({ code: 'trace_busy' });
  trace.event({ v: 1, at: 1, type: 'input', content: 'Go.' });
  await trace.close();
  const again = await openTrace({ dir, run: 'r1' });
  again.end('answered', {});
  await again.close();
  const types: string[] = [];
  for await (const { type } of again.events()) types.push(type);
  expect(types).toEqual(['run', 'input', 'end']);
});

test('a line of a later version stops whoever would go on from it, a torn one does not', async () => {
  const trace = await createTrace({ dir, run: 'r1', agent: 'main', model: 'm', task: 'Go.', sync: 'every_line' });
  await trace.close();
  const read = async () => {
    const types: string[] = [];
    for await (const { type } of trace.events()) types.push(type);
    return types;
  };
  writeFileSync(trace.path, '{"v":1,"at":17\n{"v":1,"at":1,"type":"input","content":"Go."}\n{"v":1,"a');
  expect(await read()).toEqual(['input']);
  for (const line of ['{"v":2,"at":1,"type":"input","content":"Go."}', '{"v":1,"at":1,"type":"leap"}']) {
    writeFileSync(trace.path, `${line}\n`);
    await expect(read()).rejects.toMatchObject({ code: 'trace_newer' });
  }
});
