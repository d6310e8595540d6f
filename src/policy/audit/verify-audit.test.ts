import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { auditPlace, intentRecord, KEY, outcomeRecord } from '../../../test/helpers/audit-place.ts';
import { auditHeads, readHeads } from './heads.ts';
import { pruneAudit } from './prune-audit.ts';
import { readAudit } from './read-audit.ts';
import { verifyAudit } from './verify-audit.ts';

let place: ReturnType<typeof auditPlace>;
beforeEach(() => {
  place = auditPlace(2_000);
});
afterEach(() => place.remove());

const first = (writer = 'w') => join(place.dir, `${writer}.000000000001.jsonl`);
const verify = (heads?: Awaited<ReturnType<typeof auditHeads>>) =>
  verifyAudit({ logs: place.logs, anchors: place.anchors, key: KEY, ...(heads && { heads: heads.heads }) });
const codes = async (heads?: Awaited<ReturnType<typeof auditHeads>>) =>
  (await verify(heads)).problems.map(({ code }) => code);

/** Calls 0 to `calls`, the times of whose records count up from `from`. */
async function write(writer: string, calls: number, from = 0): Promise<void> {
  let at = from;
  const audit = place.recorder(writer, {
    now: () => {
      at += 1;
      return at;
    },
  });
  for (let call = 0; call < calls; call += 1) {
    await audit.intent(intentRecord(String(call), { call }));
    audit.outcome(outcomeRecord(String(call), { call }));
  }
  await audit.close();
}

describe('verifying an audit', () => {
  test('a chain that was left alone holds, across its files', async () => {
    await write('w', 12);
    expect(readdirSync(place.dir).length).toBeGreaterThan(2);
    expect(await verify(await auditHeads(place.logs))).toMatchObject({
      ok: true,
      writers: [{ writer: 'w', records: 26, closed: true, torn: 0, head: { seq: 26 } }],
    });
  });

  test('whatever byte of a record is changed is noticed', async () => {
    await write('w', 1);
    const whole = readFileSync(first());
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 2), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = Buffer.from(whole);
        changed[at] = (changed[at] ?? 0) ^ change;
        writeFileSync(first(), changed);
        expect((await verify()).ok).toBe(false);
      }),
      { numRuns: 200 },
    );
    writeFileSync(first(), whole);
    expect((await verify()).ok).toBe(true);
  });

  test('records that were removed, put in another order or made up are noticed', async () => {
    await write('w', 2);
    const lines = readFileSync(first(), 'utf8').trimEnd().split('\n');
    const tryOut = async (changed: readonly string[]) => {
      writeFileSync(first(), `${changed.join('\n')}\n`);
      return codes();
    };
    expect(await tryOut(lines.toSpliced(2, 1))).toEqual(['chain_broken']);
    expect(await tryOut(lines.toSpliced(0, 1))).toEqual(['chain_broken']);
    expect(await tryOut([...lines.slice(0, 2), lines[3] ?? '', lines[2] ?? ''])).toEqual(['chain_broken']);
    expect(await tryOut([...lines, lines.at(-1) ?? ''])).toEqual(['chain_broken']);
    expect(await tryOut([...lines.slice(0, 2), 'not a record'])).toEqual(['record_unreadable']);
  });

  test('an end that was cut off, and a chain that is gone, are noticed by heads kept elsewhere', async () => {
    await write('w', 1);
    await write('x', 1);
    const heads = readHeads(JSON.stringify(await auditHeads(place.logs)), 'heads.json');
    const lines = readFileSync(first(), 'utf8').trimEnd().split('\n');
    writeFileSync(first(), `${lines.slice(0, 3).join('\n')}\n`);
    expect(await codes()).toEqual([]);
    expect(await codes(heads)).toEqual(['head_missing']);
    rmSync(first('x'));
    expect((await verify(heads)).problems.map(({ writer, code }) => [writer, code])).toEqual([
      ['w', 'head_missing'],
      ['x', 'head_missing'],
    ]);
  });

  test('a chain that was written anew is noticed by heads kept elsewhere', async () => {
    await write('w', 2);
    const heads = await auditHeads(place.logs);
    rmSync(place.dir, { recursive: true });
    const other = auditPlace();
    const audit = other.recorder('w');
    for (const call of ['a', 'b']) {
      await audit.intent(intentRecord(call));
      audit.outcome(outcomeRecord(call));
    }
    await audit.close();
    const { problems } = await verifyAudit({ logs: other.logs, anchors: other.anchors, key: KEY, heads: heads.heads });
    expect(problems.map(({ code }) => code)).toEqual(['head_differs']);
    await other.remove();
  });

  test('text that is no heads is refused', () => {
    for (const text of ['', '{}', '{"v":1,"heads":[{"writer":1}]}', '{"v":2,"heads":[]}'])
      expect(() => readHeads(text, 'heads.json')).toThrow('heads.json holds no heads');
  });

  test('what a killed writer left half written is told, and is no problem', async () => {
    const audit = place.recorder('w');
    await audit.intent(intentRecord('1'));
    appendFileSync(first(), '{"v":1,"wri');
    expect(await verify()).toMatchObject({ ok: true, writers: [{ records: 2, closed: false, torn: 11 }] });
  });

  test('bytes behind the end of a chain that was closed are a problem', async () => {
    await write('w', 1);
    appendFileSync(first(), '{"v":1,"wri');
    const { ok, problems } = await verify();
    expect(ok).toBe(false);
    expect(problems).toMatchObject([{ code: 'chain_broken', text: expect.stringContaining('11 bytes stand behind') }]);
  });

  test('a record of a later version is refused, not passed over', async () => {
    await write('w', 1);
    appendFileSync(first(), '{"v":2}\n');
    const { problems } = await verify();
    expect(problems).toMatchObject([{ code: 'record_unreadable', text: expect.stringContaining('has version 2') }]);
  });
});

describe('pruning', () => {
  const prune = (before: number, running = false) =>
    pruneAudit({
      logs: place.logs,
      anchors: place.anchors,
      writer: `p${before}`,
      key: KEY,
      before,
      isRunning: () => running,
    });

  test('removes whole files of old records, and what is left holds by the anchor, again and again', async () => {
    await write('w', 30);
    const heads = await auditHeads(place.logs);
    expect((await prune(20)).pruned).toEqual([{ writer: 'w', upTo: expect.any(Number), records: expect.any(Number) }]);
    const [left] = (await verify(heads)).writers;
    expect(left?.pruned).toBeGreaterThan(0);
    expect((left?.pruned ?? 0) + (left?.records ?? 0)).toBe(62);
    await prune(40);
    expect(await verify(heads)).toMatchObject({ ok: true });
    await prune(1_000);
    expect(await place.logs.writers()).toEqual([]);
    expect(await verify(heads)).toMatchObject({ ok: true, writers: [{ pruned: 62, records: 0, head: { seq: 62 } }] });
  });

  test('leaves the newest file of a writer that may still run', async () => {
    const audit = place.recorder('w', { now: () => 1 });
    await audit.intent(intentRecord('1'));
    expect((await prune(10, true)).pruned).toEqual([]);
    expect((await prune(10, false)).pruned).toHaveLength(1);
  });

  test('a chain that does not hold is left as it is', async () => {
    await write('w', 2);
    const lines = readFileSync(first(), 'utf8').split('\n');
    writeFileSync(first(), lines.toSpliced(1, 1).join('\n'));
    expect(await prune(1_000)).toEqual({ pruned: [], broken: ['w'] });
    expect(await codes()).toEqual(['chain_broken']);
  });

  test('an anchor that somebody made up stands for nothing', async () => {
    await write('w', 30);
    const names = readdirSync(place.dir).filter((name) => name.endsWith('.jsonl'));
    const second = JSON.parse(readFileSync(join(place.dir, names[1] ?? ''), 'utf8').split('\n')[0] ?? '');
    rmSync(first());
    expect(await codes()).toEqual(['chain_broken']);
    const { writer, seq, prev, at } = second;
    const anchor = {
      v: 1,
      writer,
      seq: seq - 1,
      hash: prev,
      at,
      records: seq - 1,
      prunedAt: 1,
      mac: 'made up',
    } as const;
    await place.anchors.log('x').append([anchor], true);
    expect(await codes()).toEqual(['anchor_not_signed', 'chain_broken']);
    expect(await prune(1_000)).toEqual({ pruned: [], broken: ['w'] });
    expect(await codes()).toEqual(['anchor_not_signed', 'chain_broken']);
  });
});

describe('reading an audit', () => {
  test('puts the records of a call together, and says which have no end', async () => {
    const audit = place.recorder('w');
    await audit.intent(intentRecord('1'));
    audit.outcome(outcomeRecord('2', {}, { who: { agent: 'other', via: 'gateway' }, name: 'lookup' }));
    await audit.intent(intentRecord('3'));
    audit.outcome(outcomeRecord('1'));
    await audit.close();
    const rows = async (filter = {}) => {
      const found: string[] = [];
      for await (const { call, end } of readAudit(place.logs, filter)) found.push(`${call.id} ${end?.outcome}`);
      return found;
    };
    expect(await rows()).toEqual(['1 ok', '2 ok', '3 undefined']);
    expect(await rows({ outcome: 'unknown' })).toEqual(['3 undefined']);
    expect(await rows({ agent: 'other' })).toEqual(['2 ok']);
    expect(await rows({ tool: 'look*' })).toEqual(['2 ok']);
    expect(await rows({ until: 1 })).toEqual([]);
    expect(await rows({ since: 1, outcome: 'ok' })).toEqual(['1 ok', '2 ok']);
  });

  test('of a call that is asked without end the first questions are told, and how many more there are', async () => {
    const audit = place.recorder('w');
    const request = { method: 'elicitation/create' };
    for (const [callId, times] of [
      ['1', 350],
      ['2', 100],
    ] as const) {
      for (let nth = 0; nth < times; nth += 1) {
        audit.question({ callId, conversation: 'c1', server: 'docs', tool: 't', request, answer: { nth }, ms: 1 });
      }
      audit.outcome(outcomeRecord(callId));
    }
    await audit.close();
    const rows: (readonly [string, number | undefined, number | undefined, unknown])[] = [];
    for await (const { call, questions, moreQuestions } of readAudit(place.logs)) {
      rows.push([call.id, questions?.length, moreQuestions, questions?.[99]?.answer]);
    }
    expect(rows).toEqual([
      ['1', 100, 250, { nth: 99 }],
      ['2', 100, undefined, { nth: 99 }],
    ]);
  });
});
