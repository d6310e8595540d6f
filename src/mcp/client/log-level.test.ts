import { expect, test, vi } from 'vitest';
import type { JsonObject } from '../../contracts/index.ts';
import type { Negotiated } from './era.ts';
import { askForLogs } from './log-level.ts';
import type { Session } from './session.ts';

const era = { revision: 'r', provenBy: 'a test', at: '2026-01-01T00:00:00Z' };
const spoken = (kind: 'modern' | 'legacy', capabilities: JsonObject) => ({ kind, era, capabilities }) as Negotiated;
const session = (meta: JsonObject | null) => {
  const request = vi.fn(async (_method: string, _params: unknown) => {
    throw new Error('not today');
  });
  return { request, it: { meta, request } as unknown as Session };
};

test('a server of the newest revision is told the level with each request', () => {
  const { it, request } = session({ kept: true });
  askForLogs(it, spoken('modern', {}), 'info');
  expect(it.meta).toEqual({ kept: true, 'io.modelcontextprotocol/logLevel': 'info' });
  expect(request).not.toHaveBeenCalled();
});

test('an older one is told once, if it has a log, and may refuse', () => {
  const { it, request } = session(null);
  askForLogs(it, spoken('legacy', {}), 'info');
  expect(request).not.toHaveBeenCalled();
  askForLogs(it, spoken('legacy', { logging: {} }), 'info');
  expect(request.mock.calls[0]?.slice(0, 2)).toEqual(['logging/setLevel', { level: 'info' }]);
});
