import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isBridleError } from '../tools/index.ts';
import { MAX_CONFIG_BYTES, parseConfig, readConfigFile } from './config-file.ts';

const dir = mkdtempSync(join(tmpdir(), 'bridle-config-'));
afterAll(() => rmSync(dir, { recursive: true }));

async function failure(content: string | Buffer): Promise<{ code: string; text: string }> {
  const path = join(dir, 'odd.json');
  writeFileSync(path, content);
  try {
    await readConfigFile(path);
  } catch (error) {
    if (isBridleError(error)) return { code: error.code, text: `${error.message} ${error.hint ?? ''}` };
    throw error;
  }
  return { code: 'none', text: '' };
}

describe('files that are read although they are not strict JSON', () => {
  test.each([
    ['a byte order mark', '\ufeff{"a": 1}'],
    ['comments', '// top\n{"a": 1 /* one */}'],
    ['a trailing comma', '{"a": 1,}'],
    ['Windows line ends', '{\r\n"a": 1\r\n}\r\n'],
  ])('%s', async (_what, text) => {
    expect((await failure(text)).code).toBe('none');
  });

  test('a file that is not there is undefined', async () => {
    expect(await readConfigFile(join(dir, 'none.json'))).toBeUndefined();
    expect(await readConfigFile(join(dir, 'odd.json', 'below.json'))).toBeUndefined();
  });
});

describe('files that are not JSON say where and what was expected', () => {
  const rows: readonly [text: string, place: string, says: string][] = [
    ['', ':1:1:', 'the file is empty'],
    ['  \n ', ':2:2:', 'the file is empty'],
    ['{"a" 1}', ':1:6:', 'a colon'],
    ['{\n  "a": 1\n  "b": 2\n}', ':3:3:', 'a comma'],
    ['{a: 1}', ':1:2:', 'a key in double quotes'],
    ["{\n 'a': 1}", ':2:2:', 'double quotes'],
    ['{“a”: 1}', ':1:2:', 'typographic quotes'],
    ['{"p": "C:\\Users"}', ':1:7:', 'backslash'],
    ['{"p": "C:\\users"}', ':1:7:', 'backslash'],
    ['{"a": "x\ny"}', ':1:7:', 'not closed on its line'],
    ['{"a": [1, 2}', ':1:12:', 'closing bracket'],
    ['{"a": 1', ':1:8:', 'closing brace'],
    ['{"a": 1}}', ':1:9:', 'end of the file'],
    ['{"a": NaN}', ':1:7:', 'a JSON value'],
    ['{"a": 1} /* x', ':1:10:', 'comment'],
  ];
  test.each(rows)('%j', async (text, place, says) => {
    const found = await failure(text);
    expect(found.code).toBe('config_not_json');
    expect(found.text).toContain(`odd.json${place}`);
    expect(found.text).toContain(says);
  });

  test.each([
    ['[1]', 'a list'],
    ['"x"', 'a string'],
    ['null', 'null'],
    ['7', 'a number'],
  ])('%s is JSON but no object', async (text, kind) => {
    const found = await failure(text);
    expect(found.code).toBe('config_not_object');
    expect(found.text).toContain(kind);
  });

  test('depth cannot overflow the stack', () => {
    for (const depth of [200, 2_000, 500_000]) {
      const text = `{"a": ${'['.repeat(depth)}${']'.repeat(depth)}}`;
      expect(() => parseConfig('/x', text)).toThrow(expect.objectContaining({ code: 'config_not_json' }));
    }
  });
});

describe('files that are no text', () => {
  test.each([
    ['UTF-16 with a mark', Buffer.from('\ufeff{"a": 1}', 'utf16le'), 'UTF-16'],
    ['UTF-16, big end first', Buffer.from([0xfe, 0xff, 0, 0x7b, 0, 0x7d]), 'UTF-16'],
    ['UTF-16 without a mark', Buffer.from('{"a": 1}', 'utf16le'), 'UTF-16 without'],
    ['Latin-1', Buffer.from([0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d]), 'not valid UTF-8'],
    ['NUL bytes', Buffer.from('{"a": "\0"}'), 'NUL'],
  ])('%s', async (_what, bytes, says) => {
    const found = await failure(bytes);
    expect(found.code).toBe('config_encoding');
    expect(found.text).toContain(says);
  });

  test('a file that is too large is not parsed', async () => {
    expect((await failure(`{"a": "${'x'.repeat(MAX_CONFIG_BYTES)}"}`)).code).toBe('config_too_large');
  });

  test('a folder and a socket are refused without waiting', async () => {
    const folder = join(dir, 'folder');
    mkdirSync(folder);
    await expect(readConfigFile(folder)).rejects.toMatchObject({ code: 'config_not_a_file' });
    const socket = join(dir, 'socket');
    const listener = createServer().listen(socket);
    await once(listener, 'listening');
    await expect(readConfigFile(socket)).rejects.toMatchObject({ code: 'config_not_a_file' });
    listener.close();
  });
});
