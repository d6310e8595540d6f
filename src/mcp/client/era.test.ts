import { describe, expect, test } from 'vitest';
import type { Json } from '../../contracts/index.ts';
import { rawFrom } from '../../tools/index.ts';
import { judgeDiscover } from './era.ts';
import { McpError } from './errors.ts';

function refused(code: number, data?: Json): McpError {
  return new McpError('mcp_error_answer', 'refused', {
    executed: 'not_executed',
    rpc: { code, message: 'refused', ...(data !== undefined && { data: rawFrom(data) }) },
  });
}

describe('what the answer to server/discover proves', () => {
  test.each<[string, Json]>([
    ['one revision', ['2026-07-28']],
    ['several', ['2027-03-01', '2026-07-28', '2025-11-25']],
  ])('a list with our modern revision (%s) is a modern server', (_, supportedVersions) => {
    expect(judgeDiscover(rawFrom({ supportedVersions, capabilities: { tools: {} } }))).toMatchObject({
      kind: 'modern',
      negotiated: { era: { revision: '2026-07-28' }, capabilities: { tools: {} } },
    });
  });

  test('a list of other modern revisions only is a modern server that we do not support', () => {
    expect(judgeDiscover(rawFrom({ supportedVersions: ['2027-03-01', '2028-01-01'] }))).toEqual({
      kind: 'other_modern',
      versions: ['2027-03-01', '2028-01-01'],
    });
  });

  test.each<[string, Json]>([
    ['no object', 'ok'],
    ['no list', {}],
    ['an empty list', { supportedVersions: [] }],
    ['a list of something else', { supportedVersions: [20260728, '2026-07-28'] }],
    ['legacy revisions only', { supportedVersions: ['2025-11-25'] }],
    ['legacy ones among other modern ones', { supportedVersions: ['2027-03-01', '2025-06-18'] }],
  ])('%s proves nothing', (_, result) => {
    expect(judgeDiscover(rawFrom(result))).toEqual({ kind: 'legacy' });
  });

  test('the errors that only a modern server sends prove one', () => {
    expect(judgeDiscover(refused(-32022, { supported: ['2026-07-28'], requested: 'x' }))).toMatchObject({
      kind: 'modern',
    });
    expect(judgeDiscover(refused(-32022, { supported: ['2027-03-01'] }))).toMatchObject({ kind: 'other_modern' });
    expect(judgeDiscover(refused(-32021, { requiredCapabilities: { sampling: {} } }))).toMatchObject({
      kind: 'modern',
    });
  });

  test.each([-32601, -32602, -32600, -32700, -32603, -32000, -32001, -32022, -32021, -32020, 0, 404])(
    'error %d without the data of a modern one is an old server',
    (code) => {
      expect(judgeDiscover(refused(code))).toEqual({ kind: 'legacy' });
      expect(judgeDiscover(refused(code, 'text'))).toEqual({ kind: 'legacy' });
    },
  );
});
