import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../contracts/index.ts';
import {
  audio,
  EMPTY_RESULT,
  embeddedResource,
  image,
  modelContent,
  normalizeResult,
  outcomeToToolResult,
  rawFrom,
  rawJson,
  resourceLink,
  structured,
  text,
} from './index.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4 tiny').toString('base64');

function shown(returned: unknown, maxChars = 10_000): Json {
  return modelContent(rawFrom(normalizeResult(returned)), { maxChars });
}

function described(block: unknown): string {
  const content = shown(block);
  expect(typeof content).toBe('string');
  return String(content);
}

describe('modelContent', () => {
  test('gives a single text as a string and several as blocks, unchanged', () => {
    expect(shown('hello')).toBe('hello');
    expect(shown([text('a', { annotations: { audience: ['user'] } }), text('b')])).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]);
  });

  test('gives images that the API takes as images, under the type that their bytes have', () => {
    const source = { type: 'base64', media_type: 'image/png', data: PNG };
    expect(shown(image(PNG, 'image/png'))).toEqual([{ type: 'image', source }]);
    expect(shown(image(new Uint8Array(Buffer.from(PNG, 'base64')), 'image/jpeg'))).toEqual([{ type: 'image', source }]);
    expect(shown(embeddedResource({ uri: 'file:///a.png', mimeType: 'image/png', blob: PNG }))).toEqual([
      { type: 'image', source },
    ]);
    expect(shown(image(`${PNG.slice(0, 40)}\n${PNG.slice(40)}`, 'image/png'))).toEqual([{ type: 'image', source }]);
  });

  test('describes images that the API does not take', () => {
    expect(described(image('AAAA', 'image/tiff'))).toMatch(/^\[image, mimeType "image\/tiff", 3 bytes: not shown/);
    expect(described(image('not base64!', 'image/png'))).toContain('[image, mimeType "image/png"');
    expect(described(image(`iVBORw0KGgo${'A'.repeat(7_100_001)}`, 'image/png'))).toContain('bytes: not shown');
  });

  test('describes audio and bytes by kind, type, size and place', () => {
    expect(described(audio('AAAAAA==', 'audio/wav'))).toContain('[audio, mimeType "audio/wav", 4 bytes');
    expect(described(embeddedResource({ uri: 'file:///z', mimeType: 'application/zip', blob: 'AAAA' }))).toContain(
      '[resource: uri "file:///z", mimeType "application/zip", 3 bytes',
    );
  });

  test('says for whom a described block was meant', () => {
    expect(described(audio('AAAA', 'audio/wav', { annotations: { audience: ['user'] } }))).toMatch(
      /^\[meant for the user\] \[audio/,
    );
  });

  test('gives a text resource with its address, and a PDF as a document', () => {
    expect(described(embeddedResource({ uri: 'file:///a.txt', mimeType: 'text/plain', text: 'body' }))).toBe(
      '[resource: uri "file:///a.txt", mimeType "text/plain"]\nbody',
    );
    expect(shown(embeddedResource({ uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: PDF }))).toEqual([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: PDF },
        title: 'file:///a.pdf',
      },
    ]);
  });

  test('describes a resource link with all that it says', () => {
    const link = { uri: 'https://x/y', name: 'y', title: 'Y', description: 'The "y"', mimeType: 'text/html', size: 12 };
    expect(described(resourceLink(link))).toBe(
      '[resource link: uri "https://x/y", name "y", title "Y", description "The \\"y\\"", mimeType "text/html", size 12]',
    );
  });

  test('gives a structured result once', () => {
    expect(shown({ b: 1, a: [2] })).toBe('{"b":1,"a":[2]}');
    const pretty = {
      content: [{ type: 'text', text: '{\n "a": [2],\n "b": 1.0 }' }],
      structuredContent: { b: 1, a: [2] },
    };
    expect(shown(pretty)).toBe('{"b":1,"a":[2]}');
  });

  test('keeps a text copy that differs, and blocks beside it', () => {
    expect(shown(structured({ n: 1 }, text('One found.'), image(PNG, 'image/png')))).toMatchObject([
      { type: 'text', text: '{"n":1}' },
      { type: 'text', text: 'One found.' },
      { type: 'image' },
    ]);
  });

  test('gives unknown and broken blocks as their JSON, and costs no other block', () => {
    const raw = rawFrom({
      content: [
        { type: 'hologram', depth: 3 },
        { type: 'text' },
        { type: 'image' },
        { type: 'resource' },
        'bare',
        7,
        null,
        { type: 'text', text: 'ok' },
      ],
    });
    expect(modelContent(raw, { maxChars: 1_000 })).toEqual(
      [
        '{"type":"hologram","depth":3}',
        '{"type":"text"}',
        '{"type":"image"}',
        '{"type":"resource"}',
        'bare',
        '7',
        'null',
        'ok',
      ].map((value) => ({ type: 'text', text: value })),
    );
  });

  test('says that an empty answer is one', () => {
    for (const empty of [undefined, '', ' \n', { content: [] }]) expect(shown(empty)).toBe(EMPTY_RESULT);
    expect(shown([])).toBe('[]');
  });

  test('shows what is no CallToolResult as it is', () => {
    expect(modelContent(rawJson('not json'), { maxChars: 100 })).toBe('not json');
    expect(modelContent(rawJson('{"toolResult":5}'), { maxChars: 100 })).toBe('{"toolResult":5}');
    expect(modelContent(rawJson('[1]'), { maxChars: 100 })).toBe('[1]');
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    expect(modelContent(rawJson(`{"content":[],"structuredContent":${deep}}`), { maxChars: 100 })).toContain('[cut: ');
  });
});

describe('a result over the bound', () => {
  test('says how much is shown and how to read on, and keeps the whole', () => {
    let kept = '';
    const keep = (full: string) => {
      kept = full;
      return 'res_1';
    };
    const raw = rawFrom(normalizeResult([text('a'.repeat(500)), text('b'.repeat(500)), image(PNG, 'image/png')]));
    const content = modelContent(raw, { maxChars: 300, keep });
    expect(kept).toBe(`${'a'.repeat(500)}\n${'b'.repeat(500)}`);
    expect(content).toMatchObject([{ type: 'text' }, { type: 'image' }]);
    const [first] = content as [{ text: string }];
    const offset = first.text.indexOf('\n');
    expect(first.text.slice(offset + 1)).toBe(
      `[cut: ${offset} of 1001 characters shown; read on with read_result {"result":"res_1","offset":${offset}}]`,
    );
    expect(first.text.length).toBeLessThanOrEqual(300);
  });

  test('says so when nothing kept the rest', () => {
    expect(shown('x'.repeat(1_000), 200)).toMatch(
      /x\n\[cut: \d+ of 1000 characters shown; the rest was not kept: ask for less\]$/,
    );
  });

  test('is cut exactly where the handle reads on, never inside a surrogate pair', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 150, maxLength: 400 }),
        fc.integer({ min: 100, max: 160 }),
        (body, maxChars) => {
          let kept = '';
          const keep = (full: string) => {
            kept = full;
            return 'h';
          };
          const content = modelContent(rawFrom({ content: [{ type: 'text', text: body }] }), { maxChars, keep });
          if (kept === '') return;
          const match = /^([\s\S]*?)\n?\[cut: \d+ of \d+ .*"offset":(\d+)\}\]$/.exec(String(content));
          expect(kept.slice(0, Number(match?.[2]))).toBe(match?.[1]);
          expect(/[\ud800-\udbff]$/.test(match?.[1] ?? '')).toBe(false);
          expect(String(content).length).toBeLessThanOrEqual(maxChars);
        },
      ),
    );
  });
});

test('modelContent never throws and keeps the bound, whatever a server sends', () => {
  const member = fc.constantFrom(
    'type',
    'text',
    'data',
    'mimeType',
    'resource',
    'uri',
    'blob',
    'annotations',
    'audience',
  );
  const leaf = fc.oneof(
    fc.constantFrom('text', 'image', 'audio', 'resource', 'resource_link', 'image/png', 'application/pdf', PNG),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const block = fc.dictionary(member, fc.oneof(leaf, fc.dictionary(member, leaf)));
  const result = fc.record(
    { content: fc.oneof(fc.array(fc.oneof(block, leaf)), leaf), structuredContent: fc.jsonValue(), isError: leaf },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(result, fc.jsonValue()), fc.integer({ min: 120, max: 400 }), (value, maxChars) => {
      const content = modelContent(rawJson(JSON.stringify(value)), { maxChars, keep: () => 'h' });
      const blocks =
        typeof content === 'string'
          ? [{ type: 'text', text: content }]
          : (content as { type: string; text?: string }[]);
      const total = blocks.reduce((sum, b) => sum + (b.type === 'text' ? (b.text ?? '').length : 0), 0);
      expect(blocks.length).toBeGreaterThan(0);
      expect(blocks.every((b) => b.type !== 'text' || b.text !== '')).toBe(true);
      expect(total).toBeLessThanOrEqual(maxChars);
    }),
    { numRuns: 500 },
  );
});

describe('an error result', () => {
  const failed = {
    isError: true,
    content: [
      { type: 'text', text: 'It broke.' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
    ],
  };

  test('has text only, since the API refuses anything else beside is_error: its image is described', () => {
    const content = modelContent(rawFrom(failed), { maxChars: 1000, isError: true });
    expect(content).toEqual([
      { type: 'text', text: 'It broke.' },
      { type: 'text', text: expect.stringContaining('image, mimeType "image/png"') },
    ]);
  });

  test('is answered to the model in the same way, and keeps its image when it is no error', () => {
    const block = (isError: boolean) => outcomeToToolResult('toolu_1', { kind: 'ok', raw: rawFrom(failed), isError });
    expect(JSON.stringify(block(true))).not.toContain('"type":"image"');
    expect(JSON.stringify(block(false))).toContain('"type":"image"');
  });
});
