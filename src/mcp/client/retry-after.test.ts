import { expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const NOW = Date.UTC(2026, 10, 30, 12);

test.each([
  ['tools/call', 429, '2', 2000],
  ['tools/call', 429, 'Mon, 30 Nov 2026 12:00:05 GMT', 5000],
  ['tools/call', 429, 'Mon, 30 Nov 2026 11:00:00 GMT', 0],
  ['tools/list', 503, '1', 1000],
  // It may have run.
  ['tools/call', 503, '1', null],
  // Nobody waits that long within a call.
  ['tools/call', 429, '3600', null],
  ['tools/call', 429, 'soon', null],
  ['tools/call', 429, undefined, null],
  ['tools/list', 500, '1', null],
])('%s that got %i with Retry-After %s is sent again after %s ms', (method, status, value, ms) => {
  expect(retryAfterMs(method, status, value === undefined ? {} : { 'retry-after': value }, NOW)).toBe(ms);
});
