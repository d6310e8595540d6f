import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { BridleError } from '../tools/index.ts';
import { readBridleFile } from './bridle-json.ts';
import { APPROVALS_KEYS, BRIDLE_KEYS, PERMISSION_KEYS, PREVIEW_KEYS } from './bridle-keys.ts';
import { parseConfig } from './config-file.ts';

const schema = JSON.parse(readFileSync(new URL('../../schema/bridle.schema.json', import.meta.url), 'utf8'));
const accepts = new Ajv2020({ strict: true, strictRequired: false }).compile(schema);

const read = (text: string, owner: 'user' | 'project' = 'user') =>
  readBridleFile(parseConfig('/p/bridle.json', text), owner);
const codes = (text: string, owner: 'user' | 'project' = 'user') => read(text, owner).warnings.map(({ code }) => code);

describe('the published schema', () => {
  test('documents exactly the keys that are read, each with a description', () => {
    expect(Object.keys(schema.properties).sort()).toEqual([...BRIDLE_KEYS].sort());
    expect(Object.keys(schema.$defs.permissions.properties).sort()).toEqual([...PERMISSION_KEYS].sort());
    expect(Object.keys(schema.properties.approvals.properties).sort()).toEqual([...APPROVALS_KEYS].sort());
    expect(Object.keys(schema.$defs.preview.properties).sort()).toEqual([...PREVIEW_KEYS].sort());
    const documented = [...Object.values(schema.properties), schema.$defs.permissions, schema.$defs.rule];
    for (const property of documented as { $ref?: string; description?: string }[]) {
      expect(property.$ref ?? property.description).toBeTruthy();
    }
  });

  test('its examples are valid and read without a warning', () => {
    expect(schema.examples.length).toBeGreaterThan(1);
    for (const example of schema.examples) {
      expect(accepts(example)).toBe(true);
      expect(codes(JSON.stringify(example))).toEqual([]);
    }
  });

  const documents: readonly string[] = [
    '{}',
    '{"permissions": {}}',
    '{"permissions": {"allow": []}}',
    '{"permissions": {"alow": ["x"]}}',
    '{"permissions": {"deny": "mcp__fs"}}',
    '{"permissions": {"deny": 7}}',
    '{"permissions": []}',
    '{"Permissions": {}}',
    '{"mode": "plan"}',
    '{"mode": 7}',
    '{"approvals": {}}',
    '{"approvals": {"park": true, "waitSeconds": 1.5}}',
    '{"approvals": {"park": "yes"}}',
    '{"approvals": {"waitSeconds": -1}}',
    '{"approvals": {"wait": 1}}',
    '{"approvals": true}',
    '{"pins": {}}',
    '{"pins": {"mode": "locked"}}',
    '{"pins": {"mode": "strict"}}',
    '{"pins": {"lock": "first-use"}}',
    '{"pins": "off"}',
    '{"previews": []}',
    '{"previews": {"refund": {"tool": "get"}}}',
    '{"previews": {"mcp__shop__*": {"tool": "get"}}}',
    '{"previews": {"mcp__shop__refund": {"tool": ""}}}',
    '{"previews": {"mcp__shop__refund": "get"}}',
    '{"previews": {"mcp__shop__refund": {"tool": "get", "arguments": {"id": "/id"}}}}',
    '{"previews": {"mcp__shop__refund": {"tool": "get", "arguments": {"id": "id"}}}}',
    '{"previews": {"mcp__shop__refund": {"tool": "get", "arguments": {"id": "/a~2"}}}}',
    '{"previews": {"mcp__shop__refund": {"tool": "get", "arguments": ["/id"]}}}',
    '{"previews": {"mcp__shop__refund": {"tool": "get", "args": {}}}}',
  ];
  test.each(documents)('and the reader agree about %s', (text) => {
    let clean: boolean;
    try {
      clean = codes(text).length === 0;
    } catch (error) {
      expect(error).toBeInstanceOf(BridleError);
      clean = false;
    }
    expect(clean).toBe(accepts(JSON.parse(text)));
  });
});

describe('readBridleFile', () => {
  test('gives rules with the lines on which they stand', () => {
    const file = read('{\n "permissions": {\n  "deny": [\n   "a",\n   "b", // why\n  ],\n },\n}');
    expect(file.permissions.deny).toEqual(['a', 'b']);
    expect(file.lineOf('deny', 1)).toBe(5);
    expect(file.lineOf('allow', 0)).toBeUndefined();
  });

  test('takes no mode from a project', () => {
    const text = '{"mode": "bypassPermissions"}';
    expect(read(text, 'project').mode).toBeUndefined();
    expect(codes(text, 'project')).toEqual(['mode_in_project']);
    expect(read(text, 'user').mode).toBe('bypassPermissions');
  });

  test('a deny or ask written as one string holds, an allow so written allows nothing', () => {
    expect(read('{"permissions": {"deny": "x", "ask": "y", "allow": "z"}}').permissions).toEqual({
      deny: ['x'],
      ask: ['y'],
    });
  });

  test.each([
    '{"permissions": {"deny": {"x": true}}}',
    '{"permissions": null}',
    '{"permissions": {"deny": ["x"], "deny": []}}',
    '{"permissions": {"deny": ["x"]}, "permissions": {}}',
    '{"permissions": {"Deny": ["x"]}}',
    '{"permissions": {"dney": ["x"], "deny": []}}',
    '{"permissions": {"disallow": ["x"]}}',
    '{"permisions": {"deny": ["x"]}}',
    '{"deny": ["x"]}',
    '{"ask": ["x"], "permissions": {}}',
  ])('rules that could be misread stop everything: %s', (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'config_rules_unreadable' }));
  });

  test('a preview argument named __proto__ is an argument like any other', () => {
    const [preview] = read('{"previews": {"mcp__s__t": {"tool": "g", "arguments": {"__proto__": "/a"}}}}').previews;
    expect(Object.entries(preview?.plan.arguments ?? {})).toEqual([['__proto__', '/a']]);
  });

  test('only the user lends the model, by server; a limit that can not be read is none at all', () => {
    const text =
      '{"sampling": {"servers": {"a": {}, "b": {"maxTokens": 5, "requests": 1}, "c": {"requests": "x"}, "d": 1, "e": {"fingerprint": "FP"}, "f": {"fingerprint": "no"}}, "srvers": 1}}'.replace(
        'FP',
        'a'.repeat(64),
      );
    const file = read(text, 'user');
    expect([...file.sampling]).toEqual([
      ['a', { maxTokens: 20_000, requests: 10 }],
      ['b', { maxTokens: 5, requests: 1 }],
      ['c', { maxTokens: 20_000, requests: 0 }],
      ['e', { fingerprint: 'a'.repeat(64), maxTokens: 20_000, requests: 10 }],
    ]);
    expect(file.warnings).toHaveLength(4);
    const project = read(text, 'project');
    expect([project.sampling.size, project.warnings[0]?.code]).toEqual([0, 'sampling_in_project']);
  });

  test('an unknown key is named with the one that was probably meant', () => {
    expect(read('{"permissions": {"alow": ["x"]}}').warnings[0]?.text).toContain('Did you mean "allow"?');
    expect(() => read('{"permissions": {"Deny": ["x"]}}')).toThrow('Did you mean "deny"?');
    expect(() => read('{"deny": ["x"]}')).toThrow('Put it inside "permissions".');
    expect(read('{"mcpServers": {}}').warnings[0]?.text).toContain('.mcp.json');
  });
});

describe('serverLog', () => {
  test('is a level or off, of the user alone', () => {
    expect(read('{"serverLog": "info"}').serverLog).toBe('info');
    expect(read('{"serverLog": "off"}').serverLog).toBe('off');
    for (const odd of ['"loud"', '3', 'null']) {
      expect(read(`{"serverLog": ${odd}}`).serverLog).toBeUndefined();
      expect(codes(`{"serverLog": ${odd}}`)).toEqual(['odd_value']);
    }
    expect(read('{"serverLog": "debug"}', 'project').serverLog).toBeUndefined();
    expect(codes('{"serverLog": "debug"}', 'project')).toEqual(['server_log_in_project']);
  });
});
