import type { Json, JsonObject, ToolDefinition } from 'bridle/contracts';
import { describe, expect, test } from 'vitest';
import { headersFor, headerValue, paramHeaders } from '../../tools/index.ts';
import { checkHeaders, checkParamHeaders } from './header-checks.ts';

const VERSION = '2026-07-28';
const meta = { _meta: { 'io.modelcontextprotocol/protocolVersion': VERSION } };
const base = { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call' };
const MISMATCH = expect.objectContaining({ code: -32020 });

describe('the headers that repeat the body', () => {
  const check = (headers: Record<string, string>, params: JsonObject = { name: 'a' }, method = 'tools/call') =>
    checkHeaders({ ...base, ...headers }, method, { ...meta, ...params });

  test('say the same as the body, or the request is refused', () => {
    expect(() => check({ 'mcp-name': 'a' })).not.toThrow();
    for (const headers of [
      { 'mcp-name': 'b' },
      { 'mcp-name': 'A' },
      { 'mcp-name': 'a, a' },
      { 'mcp-name': '' },
      { 'mcp-name': 'a', 'mcp-method': 'Tools/Call' },
      { 'mcp-name': 'a', 'mcp-method': 'tools/list' },
      { 'mcp-name': 'a', 'mcp-protocol-version': '2025-11-25' },
      { 'mcp-name': 'a', 'mcp-protocol-version': `${VERSION}, ${VERSION}` },
    ])
      expect(() => check(headers), JSON.stringify(headers)).toThrow(MISMATCH);
  });

  test('are all there', () => {
    expect(() => check({})).toThrow(MISMATCH);
    expect(() => checkHeaders({}, 'tools/list', meta)).toThrow(MISMATCH);
    expect(() => checkHeaders({ 'mcp-protocol-version': VERSION }, 'tools/list', meta)).toThrow(MISMATCH);
    expect(() => checkHeaders({ ...base, 'mcp-method': 'tools/list' }, 'tools/list', meta)).not.toThrow();
  });

  test('name a resource by its address and a prompt by its name', () => {
    const read = (name: string) =>
      check({ 'mcp-method': 'resources/read', 'mcp-name': name }, { uri: 'file:///a' }, 'resources/read');
    expect(() => read('file:///a')).not.toThrow();
    expect(() => read('file:///b')).toThrow(MISMATCH);
    expect(() => check({ 'mcp-method': 'prompts/get', 'mcp-name': 'p' }, { name: 'p' }, 'prompts/get')).not.toThrow();
  });

  test('may be in Base64, of which there is one spelling', () => {
    for (const name of ['é€😀', ' padded ', 'line\nend', '=?base64?literal?=', '', '=?base64??=']) {
      const header = headerValue(name);
      expect(() => check({ 'mcp-name': header }, { name }), header).not.toThrow();
      expect(() => check({ 'mcp-name': header }, { name: `${name}x` }), header).toThrow(MISMATCH);
    }
    for (const header of [
      '=?base64?YQ?=',
      '=?base64?Y Q==?=',
      '=?base64?YQ==YQ==?=',
      '=?BASE64?YQ==?=',
      '=?base64?_-8=?=',
      '=?base64?/w==?=',
      'é',
    ])
      expect(() => check({ 'mcp-name': header }), header).toThrow(MISMATCH);
  });

  test('are not asked of a name that is none, which is refused for what it is', () => {
    for (const name of [1, null, ['a'], { toString: 'a' }]) expect(() => check({}, { name })).not.toThrow();
  });

  test('show no more of a long name than is needed', () => {
    let said = '';
    try {
      check({ 'mcp-name': 'x'.repeat(10_000) }, { name: 'y'.repeat(10_000) });
    } catch (error) {
      said = String(error);
    }
    expect(said.length).toBeLessThan(1_000);
  });
});

describe('the headers that a tool wants of its arguments', () => {
  const property = (type: string, header: string) => ({ type, 'x-mcp-header': header });
  const inputSchema = {
    type: 'object',
    properties: {
      region: property('string', 'Region'),
      count: property('integer', 'Count'),
      dry: property('boolean', 'Dry'),
      deep: { type: 'object', properties: { __proto__x: property('string', 'Deep') } },
    },
  };
  const tool: Pick<ToolDefinition, 'inputSchema'> = { inputSchema };
  const check = (headers: Record<string, string>, args: Json, of = tool) =>
    checkParamHeaders(headers, of as ToolDefinition, args);

  test('are those that our own client sends', () => {
    const wanted = paramHeaders(inputSchema);
    if ('invalid' in wanted) throw new Error(wanted.invalid);
    for (const args of [
      { region: 'us', count: 42, dry: false, deep: { __proto__x: 'd' } },
      { region: 'é ', count: -7 },
      { region: '', count: Number.MAX_SAFE_INTEGER },
      { region: null },
      {},
    ])
      expect(() => check(headersFor(wanted, args), args), JSON.stringify(args)).not.toThrow();
  });

  test('are refused where they differ, are missing, or are there without their argument', () => {
    const args = { region: 'us', count: 42, dry: true };
    const right = { 'mcp-param-region': 'us', 'mcp-param-count': '42', 'mcp-param-dry': 'true' };
    expect(() => check(right, args)).not.toThrow();
    expect(() => check({ ...right, 'mcp-param-count': '42.0' }, args)).not.toThrow();
    for (const wrong of [
      { 'mcp-param-region': 'US' },
      { 'mcp-param-region': 'us, us' },
      { 'mcp-param-count': '0x2a' },
      { 'mcp-param-count': '43' },
      { 'mcp-param-count': '' },
      { 'mcp-param-dry': 'TRUE' },
      { 'mcp-param-deep': 'd' },
    ])
      expect(() => check({ ...right, ...wrong }, args), JSON.stringify(wrong)).toThrow(MISMATCH);
    for (const missing of Object.keys(right)) {
      const rest = Object.fromEntries(Object.entries(right).filter(([name]) => name !== missing));
      expect(() => check(rest, args), missing).toThrow(MISMATCH);
    }
  });

  test('are not asked where the tool is unknown or asks wrongly, and nothing is read off a prototype', () => {
    expect(() => checkParamHeaders({ 'mcp-param-region': 'x' }, undefined, {})).not.toThrow();
    const wrong = { inputSchema: { properties: { a: { type: 'number', 'x-mcp-header': 'A' } } } };
    expect(() => check({}, { a: 1 }, wrong)).not.toThrow();
    const inherited = { inputSchema: { properties: { toString: property('string', 'T') } } };
    expect(() => check({}, {}, inherited)).not.toThrow();
    for (const args of [null, 7, 'us', ['us']]) expect(() => check({}, args as Json)).not.toThrow();
  });
});
