import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sseReader } from './sse.ts';

function read(chunks: readonly (string | Buffer)[], maxChars = 10_000) {
  const events: string[][] = [];
  const garbage: string[] = [];
  const reader = sseReader(maxChars, {
    event: ({ event, data }) => events.push([event, data]),
    garbage: (line) => garbage.push(line),
  });
  const ok = chunks.every((chunk) => reader.push(Buffer.from(chunk)));
  reader.end();
  return { events, garbage, ok, lastId: reader.lastId, retryMs: reader.retryMs };
}

const STREAM = [
  '\ufeff: hello\n\n',
  'id: 1\ndata:\n\n',
  'event: message\ndata: {"a":\ndata:  1}\nid: 2\n\n',
  'retry: 250\r\ndata:größe\r\n\r\n',
  'retry: soon\rid: 3\rdata: last\r\r',
].join('');

describe('a stream of events', () => {
  test('comes out as events with their names, data of several lines, ids and pauses', () => {
    expect(read([STREAM])).toEqual({
      events: [
        ['message', '{"a":\n 1}'],
        ['message', 'größe'],
        ['message', 'last'],
      ],
      garbage: [],
      ok: true,
      lastId: '3',
      retryMs: 250,
    });
  });

  test('comes out the same wherever it was cut', () => {
    const bytes = Buffer.from(STREAM);
    const whole = read([STREAM]);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
        expect(read(chunks)).toEqual(whole);
      }),
    );
  });

  test('an event whose closing line is missing at the end is told', () => {
    expect(read(['data: {"id":1}']).events).toEqual([['message', '{"id":1}']]);
  });

  test('lines that are no fields are told apart, comments and empty data are not events', () => {
    const { events, garbage } = read(['hello\n: fine\n\nevent: ping\n\nevent: x\ndata: y\n\n<p>\n']);
    expect(events).toEqual([['x', 'y']]);
    expect(garbage).toEqual(['hello', '<p>']);
  });

  test('an event over the limit ends it, whether in one line or in many, and nothing of it is told', () => {
    expect(read([`data: ${'x'.repeat(200)}\n\n`], 100)).toMatchObject({ ok: false, events: [] });
    expect(read([`${'data: xxxxxxxxx\n'.repeat(20)}\n`], 100)).toMatchObject({ ok: false, events: [] });
    expect(read([`${'data: xxxxxxxxx\n\n'.repeat(20)}`], 100)).toMatchObject({ ok: true });
  });

  test('an id with a NUL does not count', () => {
    expect(read(['id: a\ndata: 1\n\nid: b\0c\ndata: 2\n\n']).lastId).toBe('a');
  });
});
