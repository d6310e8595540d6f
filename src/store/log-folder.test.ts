import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LogFolder, openLogFolder } from './index.ts';

interface Note {
  readonly v: number;
  readonly text: string;
}

let dir: string;
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'bridle-logs-')), 'logs');
});
afterEach(() => rmSync(join(dir, '..'), { recursive: true, force: true }));

const note = (text: string): Note => ({ v: 1, text });
const file = (writer: string, first: number) => join(dir, `${writer}.${String(first).padStart(12, '0')}.jsonl`);

async function texts(folder: LogFolder<Note>, writer: string, from = 1): Promise<string[]> {
  const found: string[] = [];
  for await (const { seq, record } of folder.log(writer).read(from)) found.push(`${seq} ${record.text}`);
  return found;
}

describe('a folder of logs', () => {
  test('makes nothing before the first append, and then for its owner only', async () => {
    const folder = openLogFolder<Note>({ dir });
    expect([await folder.writers(), await texts(folder, 'one')]).toEqual([[], []]);
    await folder.log('one').append([note('a')], true);
    await folder.close();
    expect([statSync(dir).mode & 0o777, statSync(file('one', 1)).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(readFileSync(file('one', 1), 'utf8')).toBe('{"v":1,"text":"a"}\n');
  });

  test('keeps each writer in order, appends that come at once included, and goes on where it ended', async () => {
    const folder = openLogFolder<Note>({ dir });
    const one = folder.log('one');
    const numbers = await Promise.all([
      one.append([note('a'), note('b')], true),
      folder.log('two').append([note('x')], false),
      one.append([note('c')], false),
    ]);
    expect(numbers).toEqual([2, 1, 3]);
    await folder.close();
    await expect(one.append([note('late')], true)).rejects.toMatchObject({ code: 'store_closed' });
    const again = openLogFolder<Note>({ dir });
    expect(await again.log('one').append([note('d')], true)).toBe(4);
    expect(await again.writers()).toEqual(['one', 'two']);
    expect(await texts(again, 'one', 2)).toEqual(['2 b', '3 c', '4 d']);
    await again.close();
  });

  test('begins another file when one is full, reads across them, and drops whole ones', async () => {
    const folder = openLogFolder<Note>({ dir, segmentBytes: 40 });
    for (const text of ['a', 'b', 'c', 'd', 'e']) await folder.log('one').append([note(text)], false);
    expect(await folder.segments('one')).toEqual([
      { first: 1, last: 3, torn: 0 },
      { first: 4, last: 5, torn: 0 },
    ]);
    expect(await texts(folder, 'one', 3)).toEqual(['3 c', '4 d', '5 e']);
    await folder.drop('one', 4);
    expect(await texts(folder, 'one')).toEqual(['4 d', '5 e']);
    await folder.close();
  });

  test('what a killed writer left half written is told, not read, and cut off by whoever goes on', async () => {
    const folder = openLogFolder<Note>({ dir });
    await folder.log('one').append([note('a')], true);
    await folder.log('two').append([note('x')], true);
    await folder.close();
    for (const writer of ['one', 'two']) appendFileSync(file(writer, 1), '{"v":1,"te');
    const again = openLogFolder<Note>({ dir });
    expect(await again.segments('one')).toEqual([{ first: 1, last: 1, torn: 10 }]);
    expect(await texts(again, 'one')).toEqual(['1 a']);
    expect(await again.log('one').append([note('b')], true)).toBe(2);
    expect(readFileSync(file('one', 1), 'utf8')).toBe('{"v":1,"text":"a"}\n{"v":1,"text":"b"}\n');
    expect([await again.cutTorn('two'), await again.cutTorn('two')]).toEqual([10, 0]);
    expect(readFileSync(file('two', 1), 'utf8')).toBe('{"v":1,"text":"x"}\n');
    await again.close();
  });

  test('a line that is no record is named by file and line', async () => {
    const folder = openLogFolder<Note>({ dir });
    await folder.log('one').append([note('a')], true);
    appendFileSync(file('one', 1), 'not a record\n');
    await expect(texts(folder, 'one')).rejects.toMatchObject({
      code: 'store_corrupt',
      message: expect.stringContaining('one.000000000001.jsonl, line 2'),
    });
    await folder.close();
  });

  test('an append that fails says why, and the next one goes on without a gap', async () => {
    writeFileSync(dir, 'a file where the folder should be');
    const folder = openLogFolder<Note>({ dir });
    await expect(folder.log('one').append([note('a')], true)).rejects.toMatchObject({ code: 'store_failed' });
    rmSync(dir);
    expect(await folder.log('one').append([note('b')], true)).toBe(1);
    await folder.close();
  });

  test('a name that leads out of the folder is no writer, and other files are nobody', async () => {
    const folder = openLogFolder<Note>({ dir });
    await expect(folder.log('../one').append([note('a')], true)).rejects.toThrow(TypeError);
    expect(() => folder.log('a/b').read(1)).toThrow(TypeError);
    await folder.log('one').append([note('a')], true);
    writeFileSync(join(dir, 'readme.txt'), '');
    chmodSync(join(dir, 'readme.txt'), 0o600);
    expect([await folder.writers(), readdirSync(dir).length]).toEqual([['one'], 2]);
    await folder.close();
  });
});
