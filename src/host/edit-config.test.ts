import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import { type ConfigEdit, editConfig, edited } from './edit-config.ts';
import { rewriteFile } from './rewrite-file.ts';

const put = (path: readonly string[], value: Json | undefined): ConfigEdit => ({ path, value });
const change = (text: string, ...edits: readonly ConfigEdit[]) => edited('/f', text, edits);

describe('the text of a file', () => {
  test('keeps its comments, its order, its blanks and its kind of lines', () => {
    const text =
      '\uFEFF{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"a": { "command": "x" }, // first\r\n\t\t/* off: "b" */\r\n\t},\r\n}\r\n';
    const after = change(text, put(['mcpServers', 'c'], { command: 'y' }));
    expect(after).toBe(
      '\uFEFF{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"a": { "command": "x" }, // first\r\n\t\t"c": {\r\n\t\t\t"command": "y"\r\n\t\t},\r\n\t\t/* off: "b" */\r\n\t},\r\n}\r\n',
    );
    expect(change(after, put(['mcpServers', 'c'], undefined))).toContain('/* off: "b" */');
  });

  test('a comment behind the last member stays with it', () => {
    expect(change('{\n  "l": [\n    "a" // why a\n  ]\n}\n', { path: ['l'], value: 'b', append: true })).toBe(
      '{\n  "l": [\n    "a", // why a\n    "b"\n  ]\n}\n',
    );
  });

  test.each([
    ['{\n  "m": {\n    "a": 1, // first\n    "b": 2 // second\n  }\n}\n', '{\n  "m": {\n    "a": 1 // first\n  }\n}\n'],
    [
      '{\n  "m": {\n    // about b\n    "b": 2,\n    "c": 3,\n  },\n}\n',
      '{\n  "m": {\n    // about b\n    "c": 3,\n  },\n}\n',
    ],
    ['{"m":{"a":1,"b":2}}', '{"m":{"a":1}}'],
    ['{"m":{"b":{"x":[1]}, "c":3}}', '{"m":{"c":3}}'],
    ['{"m":{"b":2}}', '{"m":{}}'],
    ['{"m":{"a":1,"b":2 /* x */ ,}}', '{"m":{"a":1,/* x */ }}'],
    ['{"m":{"a":1}}', '{"m":{"a":1}}'],
  ])('loses a member that is taken out, and nothing else: %j', (text, after) => {
    expect(change(text, put(['m', 'b'], undefined))).toBe(after);
  });

  test('an empty file, one with blanks and one that is an empty object take a first value', () => {
    for (const text of ['', '  \n', '{}', '{\n}\n']) {
      expect(JSON.parse(change(text, put(['a', 'b'], [1])))).toEqual({ a: { b: [1] } });
      expect(JSON.parse(change(text, { path: ['a', 'l'], value: 'x', append: true }))).toEqual({ a: { l: ['x'] } });
    }
  });

  test('names such as __proto__ and names with dots are keys like any other', () => {
    const after = change('{"mcpServers": {}}', put(['mcpServers', '__proto__'], 1), put(['mcpServers', 'a.b'], 2));
    expect(after.replace(/\s/g, '')).toBe('{"mcpServers":{"__proto__":1,"a.b":2}}');
  });

  test.each([
    ['a key that stands twice', '{"mcpServers": {"a": 1}, "mcpServers": {"a": 2}}'],
    ['a name that stands twice', '{"mcpServers": {"a": 1, "a": 2}}'],
    ['a list where an object is expected', '{"mcpServers": [1]}'],
  ])('is not changed where it is open what would count: %s', (_what, text) => {
    expect(() => change(text, put(['mcpServers', 'a'], 3))).toThrow();
  });
});

describe('the file', () => {
  let dir = '';
  beforeEach(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), 'bridle-edit-')));
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const one = () => [put(['a'], 1)];
  const mode = (name: string) => statSync(join(dir, name)).mode & 0o777;

  test('of the person alone is 0600 in a folder 0700, and no other file is left behind', async () => {
    expect(await editConfig(join(dir, 'x', 'f.json'), { access: 'private' }, one)).toBe(true);
    expect([mode('x'), mode('x/f.json'), readdirSync(join(dir, 'x'))]).toEqual([0o700, 0o600, ['f.json']]);
  });

  test.each(['private', 'shared', 'managed'] as const)(
    'that is there keeps its mode, its owner and its group when it is changed: %s',
    async (access) => {
      const file = join(dir, 'f.json');
      writeFileSync(file, '{}');
      const { uid, gid } = statSync(file);
      // Only root can give a file away.
      const owner = uid === 0 ? { uid: 12_345, gid: 12_346 } : { uid, gid };
      chownSync(file, owner.uid, owner.gid);
      chmodSync(file, 0o644);
      expect(await editConfig(file, { access }, one)).toBe(true);
      expect([mode('f.json'), statSync(file)]).toEqual([0o644, expect.objectContaining(owner)]);
    },
  );

  test('of a project keeps its mode, and without edits is left untouched', async () => {
    writeFileSync(join(dir, 'f.json'), '{}');
    chmodSync(join(dir, 'f.json'), 0o664);
    const before = statSync(join(dir, 'f.json')).ino;
    expect(await editConfig(join(dir, 'f.json'), { access: 'shared' }, () => [])).toBe(false);
    expect(statSync(join(dir, 'f.json')).ino).toBe(before);
    await editConfig(join(dir, 'f.json'), { access: 'shared' }, one);
    expect(mode('f.json')).toBe(0o664);
  });

  test('behind a symbolic link is changed, and the link stays; one that leads out of the project is refused', async () => {
    mkdirSync(join(dir, 'p'));
    writeFileSync(join(dir, 'real.json'), '{}');
    symlinkSync(join(dir, 'real.json'), join(dir, 'p', 'f.json'));
    await editConfig(join(dir, 'p', 'f.json'), { access: 'private' }, one);
    expect(JSON.parse(readFileSync(join(dir, 'real.json'), 'utf8'))).toEqual({ a: 1 });
    const within = { access: 'shared', within: join(dir, 'p') } as const;
    const refused = editConfig(join(dir, 'p', 'f.json'), within, () => [put(['b'], 1)]);
    await expect(refused).rejects.toMatchObject({ code: 'config_not_written' });
    expect(JSON.parse(readFileSync(join(dir, 'real.json'), 'utf8'))).toEqual({ a: 1 });
  });

  test('many writers at once lose nothing of each other', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `k${index}`);
    await Promise.all(
      names.map((name) => editConfig(join(dir, 'f.json'), { access: 'shared' }, () => [put([name], 1)])),
    );
    expect(Object.keys(JSON.parse(readFileSync(join(dir, 'f.json'), 'utf8'))).sort()).toEqual(names);
  });

  test('of an administrator that can not be written is said to be theirs, and is left', async () => {
    // The lock beside it would have too long a name.
    const file = join(dir, 'f'.repeat(250));
    writeFileSync(file, '{}');
    await expect(editConfig(file, { access: 'managed' }, one)).rejects.toMatchObject({
      code: 'config_not_written',
      message: expect.stringContaining('which belongs to an administrator'),
      hint: expect.stringContaining('administers this machine'),
    });
    expect(readFileSync(file, 'utf8')).toBe('{}');
  });

  test('that is written as a whole keeps its mode and the link to it, too, and may not lead out of its folder', async () => {
    mkdirSync(join(dir, 'p'));
    writeFileSync(join(dir, 'p', 'real'), 'a');
    chmodSync(join(dir, 'p', 'real'), 0o660);
    symlinkSync('real', join(dir, 'p', 'lock'));
    await rewriteFile(join(dir, 'p', 'lock'), 'b', { access: 'shared', within: join(dir, 'p') });
    expect([readFileSync(join(dir, 'p', 'real'), 'utf8'), mode('p/real')]).toEqual(['b', 0o660]);
    const refused = rewriteFile(join(dir, 'p', 'lock'), 'c', { access: 'shared', within: join(dir, 'q') });
    await expect(refused).rejects.toMatchObject({ code: 'config_not_written' });
    expect(readFileSync(join(dir, 'p', 'real'), 'utf8')).toBe('b');
  });

  test('that is no JSON is named and left as it is', async () => {
    writeFileSync(join(dir, 'f.json'), '{ "a": ');
    await expect(editConfig(join(dir, 'f.json'), { access: 'shared' }, one)).rejects.toMatchObject({
      code: 'config_not_json',
    });
    expect(readdirSync(dir)).toEqual(['f.json']);
  });
});
