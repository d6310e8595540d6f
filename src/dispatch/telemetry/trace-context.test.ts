import { expect, test } from 'vitest';
import { readTraceparent, traceContextOf } from './trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('a parent is read as the recommendation has it, and goes on as it came', () => {
  const place = readTraceparent(`00-${TRACE}-${SPAN}-01`, 'vendor=a,other=b');
  expect(place).toEqual({ traceId: TRACE, spanId: SPAN, traceFlags: 1, traceState: 'vendor=a,other=b' });
  expect(place && traceContextOf(place)).toEqual({
    traceparent: `00-${TRACE}-${SPAN}-01`,
    tracestate: 'vendor=a,other=b',
  });
  expect(readTraceparent(`cc-${TRACE}-${SPAN}-00-later`)).toMatchObject({ traceFlags: 0 });
});

test.each([
  undefined,
  '',
  'ff',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-1`,
])('%j is no parent', (text) => {
  expect(readTraceparent(text)).toBeUndefined();
});

test('a place that is none tells nobody anything, and a state with control characters or of great length is left', () => {
  expect(traceContextOf({ traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 })).toBeUndefined();
  const place = { traceId: TRACE, spanId: SPAN, traceFlags: 1 };
  for (const traceState of ['a=\n', `a=${'x'.repeat(600)}`, { serialize: () => 'a=\u0007' }])
    expect(traceContextOf({ ...place, traceState })).toEqual({ traceparent: `00-${TRACE}-${SPAN}-01` });
  expect(traceContextOf({ ...place, traceState: { serialize: () => 'a=1' } })?.tracestate).toBe('a=1');
});
