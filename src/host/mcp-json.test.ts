import { describe, expect, test } from 'vitest';
import { parseConfig } from './config-file.ts';
import { variablesOf } from './expand.ts';
import { type McpEntry, readMcpFile, type StdioEntry } from './mcp-json.ts';
import { expandEntry } from './server-entry.ts';

const read = (text: string) => readMcpFile(parseConfig('/p/.mcp.json', text));
/** Beside each odd entry stands a good one, which has to come through. */
const beside = (entry: string) => read(`{"mcpServers": {"odd": ${entry}, "good": {"command": "node"}}}`);
const stdio = (entry: McpEntry | undefined): StdioEntry => {
  if (entry?.kind !== 'stdio') throw new Error(`refused: ${JSON.stringify(entry)}`);
  return entry;
};

describe('an entry that cannot be started is refused alone, with the reason', () => {
  const rows: readonly [entry: string, code: string, says: string][] = [
    ['null', 'entry_not_object', 'null'],
    ['"npx server"', 'entry_not_object', 'a string'],
    ['["npx"]', 'entry_not_object', 'a list'],
    ['{}', 'command_missing', 'nothing to start'],
    ['{"cmd": "npx"}', 'command_missing', 'no "command"'],
    ['{"command": ""}', 'command_empty', 'empty'],
    ['{"command": "  "}', 'command_empty', 'empty'],
    ['{"command": ["npx", "-y", "x"]}', 'command_not_string', 'the rest into "args"'],
    ['{"command": 7}', 'command_not_string', 'a number'],
    ['{"command": "a\\u0000b"}', 'nul_character', 'NUL'],
    ['{"command": "npx", "args": "-y x"}', 'args_not_list', 'a string'],
    ['{"command": "npx", "args": [null]}', 'arg_not_string', 'argument 1'],
    ['{"command": "npx", "args": [["-y"]]}', 'arg_not_string', 'a list'],
    ['{"command": "npx", "env": ["A=1"]}', 'env_not_object', 'a list'],
    ['{"command": "npx", "env": {"A": null}}', 'env_not_string', '"A"'],
    ['{"command": "npx", "env": {"A=B": "1"}}', 'env_name', 'A=B'],
    ['{"command": "npx", "cwd": 7}', 'cwd_not_string', 'a number'],
    ['{"command": "npx", "type": "docker"}', 'type_unknown', '"docker"'],
    ['{"command": "npx", "type": 7}', 'type_unknown', '7'],
    ['{"type": "stdio", "url": "https://x"}', 'command_missing', 'no "command"'],
    ['{"type": "ws", "url": "wss://x"}', 'transport_not_supported_yet', 'WebSocket'],
    ['{"type": "http"}', 'url_missing', 'no "url"'],
    ['{"serverUrl": "https://x"}', 'url_missing', 'no "url"'],
    ['{"type": "http", "url": ["https://x"]}', 'url_not_string', 'a list'],
    ['{"type": "http", "url": ""}', 'url_not_http', 'no http or https URL'],
    ['{"url": "ftp://x/mcp"}', 'url_not_http', 'no http or https URL'],
    ['{"url": "x.example/mcp"}', 'url_not_http', 'no http or https URL'],
    ['{"url": "https://x", "headers": ["A: b"]}', 'headers_not_object', 'a list'],
    ['{"url": "https://x", "headers": {"A": null}}', 'header_not_string', '"A"'],
    ['{"url": "https://x", "headers": {"A: b": "c"}}', 'header_name', 'A: b'],
    ['{"url": "https://x", "disabled": true}', 'disabled', 'Disabled'],
    ['{"command": "npx", "disabled": true}', 'disabled', 'Disabled'],
    ['{"command": "npx", "disabled": "true"}', 'disabled_not_boolean', 'true or false'],
    ['{"command": "npx", "enabled": false}', 'disabled', 'Disabled'],
  ];
  test.each(rows)('%s', (entry, code, says) => {
    const { entries } = beside(entry);
    const [odd, good] = entries;
    expect(odd?.key).toBe('odd');
    expect(odd).toMatchObject({
      kind: 'refused',
      reasons: [{ room: 'host', code, source: { file: '/p/.mcp.json', line: 1 } }],
    });
    expect(odd?.kind === 'refused' ? odd.reasons[0]?.text : '').toContain(says);
    expect(good).toMatchObject({ key: 'good', kind: 'stdio', command: 'node' });
  });
});

describe('an entry that is odd but can be started says what is odd', () => {
  const rows: readonly [entry: string, codes: readonly string[], says: string][] = [
    ['{"command": "node", "args": [8080, true]}', ['not_a_string', 'not_a_string'], '"8080"'],
    ['{"command": "node", "env": {"PORT": 8080}}', ['not_a_string'], '"PORT"'],
    ['{"command": "node", "comand": "x"}', ['unknown_key'], 'Did you mean "command"?'],
    ['{"command": "node", "Args": []}', ['unknown_key'], 'Did you mean "args"?'],
    ['{"command": "node", "alwaysAllow": ["x"]}', ['unknown_key'], 'permissions.allow'],
    ['{"command": "node", "timeout": 30}', ['unknown_key'], 'hardMs'],
    ['{"command": "node", "constructor": 1}', ['unknown_key'], '"constructor"'],
    ['{"command": "npx -y server"}', ['command_with_spaces'], '"args"'],
    ['{"command": "node", "command": "deno"}', ['duplicate_key'], 'the last one counts'],
    ['{"command": "node", "url": "https://x"}', ['url_ignored'], 'the command is started'],
    ['{"command": "node", "era": "old"}', ['odd_value'], 'legacy'],
    ['{"command": "node", "trust": "yes"}', ['odd_value'], 'false is taken'],
    ['{"command": "node", "idleMs": "30s"}', ['odd_value'], 'milliseconds'],
    ['{"command": "node", "hardMs": -1}', ['odd_value'], 'milliseconds'],
  ];
  test.each(rows)('%s', (entry, codes, says) => {
    const { entries, warnings } = beside(entry);
    expect(entries.map(({ kind }) => kind)).toEqual(['stdio', 'stdio']);
    expect(warnings.map(({ code }) => code)).toEqual(codes);
    expect(warnings[0]?.text).toContain(says);
  });
});

describe('a file whose servers stand in the wrong place', () => {
  test.each([
    ['{"servers": {"a": {"command": "x"}}}', 'unknown_key', 'VS Code'],
    ['{"mcpservers": {}}', 'unknown_key', 'Did you mean "mcpServers"?'],
    ['{"a": {"command": "x"}}', 'unknown_key', 'inside "mcpServers"'],
    ['{"mcpServers": [{"command": "x"}]}', 'servers_not_object', 'a list'],
    ['{"mcpServers": null}', 'servers_not_object', 'null'],
    ['{"inputs": [], "mcpServers": {}}', 'unknown_key', 'environment'],
  ])('%s', (text, code, says) => {
    const { entries, warnings } = read(text);
    expect(entries).toEqual([]);
    expect(warnings[0]).toMatchObject({ code });
    expect(warnings[0]?.text).toContain(says);
  });

  test('an empty object and one without servers are fine', () => {
    expect(read('{}')).toEqual({ entries: [], warnings: [], unread: [] });
    expect(read('{"mcpServers": {}}')).toEqual({ entries: [], warnings: [], unread: [] });
  });
});

describe('server names', () => {
  test('may be anything that a JSON key can be', () => {
    const names = ['constructor', '__proto__', 'my server', 'a.b', 'a__b', 'toString', '注文'];
    const text = names.map((name) => `${JSON.stringify(name)}: {"command": "x"}`);
    const { entries, warnings } = read(`{"mcpServers": {${text.join(', ')}}}`);
    expect(entries.map(({ key, kind }) => [key, kind])).toEqual(names.map((name) => [name, 'stdio']));
    expect(warnings).toEqual([]);
  });

  test('an empty one is refused, one that stands twice counts once, with its last entry', () => {
    expect(read('{"mcpServers": {"": {"command": "x"}}}').entries[0]).toMatchObject({
      reasons: [{ code: 'server_key_empty' }],
    });
    const twice = read('{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}');
    expect(twice.entries).toHaveLength(1);
    expect(stdio(twice.entries[0]).command).toBe('y');
    expect(twice.warnings.map(({ code }) => code)).toEqual(['duplicate_key']);
  });

  test('unseen characters in names are made visible in what is said', () => {
    const { entries } = read('{"mcpServers": {"a\\u202eb": {}}}');
    const [entry] = entries;
    expect(entry?.kind === 'refused' ? entry.reasons[0]?.text : '').toContain('a\\u202eb');
  });
});

describe('expandEntry', () => {
  const variables = variablesOf({ TOKEN: 't', ANTHROPIC_API_KEY: 'sk' }, '/p');
  const expanded = (entry: string) => expandEntry(stdio(beside(entry).entries[0]), 'project', variables, '/p');

  test('expands command, arguments, env and folder, and keeps what the entry says of eras and limits', () => {
    const entry = `{"command": "\${CLAUDE_PROJECT_DIR}/run", "args": ["--t=\${TOKEN}"], "env": {"T": "\${TOKEN:-x}"},
      "cwd": "sub", "era": "legacy", "trust": true, "startMs": 5000, "hardMs": 60000, "type": "stdio"}`;
    expect(expanded(entry)).toEqual({
      server: {
        kind: 'stdio',
        key: 'odd',
        scope: 'project',
        command: '/p/run',
        args: ['--t=t'],
        env: Object.assign(Object.create(null), { T: 't' }),
        cwd: '/p/sub',
        era: 'legacy',
        trustAnnotations: true,
        startMs: 5000,
        hardMs: 60000,
        source: { file: '/p/.mcp.json', line: 1 },
      },
      warnings: [],
    });
  });

  test('an unset variable keeps its text and warns with the place', () => {
    const { server, warnings } = expanded(`{"command": "x", "args": ["\${NOPE}"]}`);
    expect(server.args).toEqual([`\${NOPE}`]);
    expect(warnings).toMatchObject([{ code: 'variable_unset', source: { line: 1 } }]);
    expect(warnings[0]?.text).toContain('argument 1 of "odd"');
  });

  test("a model's key reaches a server through env alone, and that is said", () => {
    const given = expanded(
      `{"command": "x", "args": ["\${ANTHROPIC_API_KEY}"], "env": {"K": "\${ANTHROPIC_API_KEY}"}}`,
    );
    expect(given.server.args).toEqual([`\${ANTHROPIC_API_KEY}`]);
    expect(given.server.env.K).toBe('sk');
    expect(given.warnings.map(({ code }) => code)).toEqual(['model_key', 'model_key']);
    expect(expanded('{"command": "x", "env": {"ANTHROPIC_API_KEY": "literal"}}').warnings).toMatchObject([
      { code: 'model_key' },
    ]);
  });

  test('a variable named __proto__ in env is a variable like any other', () => {
    const { server } = expanded('{"command": "x", "env": {"__proto__": "1", "A": "2"}}');
    expect(Object.entries(server.env)).toEqual([
      ['__proto__', '1'],
      ['A', '2'],
    ]);
  });
});

describe('an entry that is reached over the network', () => {
  const http = (entry: string) => {
    const { entries, warnings } = beside(entry);
    if (entries[0]?.kind !== 'http') throw new Error(`refused: ${JSON.stringify(entries[0])}`);
    return { entry: entries[0], codes: warnings.map(({ code }) => code) };
  };

  test.each(['http', 'streamable-http', 'streamableHttp', 'HTTP'])('may have the type %s', (type) => {
    expect(http(`{"type": "${type}", "url": "https://x/mcp"}`)).toMatchObject({
      entry: { url: 'https://x/mcp', sse: false, trustAnnotations: false },
      codes: [],
    });
  });

  test('may have no type, the old one, headers, and what other entries have', () => {
    expect(http('{"url": " https://x/mcp "}').entry.url).toBe('https://x/mcp');
    expect(http('{"type": "sse", "url": "https://x/sse"}').entry.sse).toBe(true);
    const { entry } = http(
      '{"url": "https://x", "headers": {"A": "b", "N": 7}, "era": "modern", "trust": true, "idleMs": 5}',
    );
    expect(entry).toMatchObject({ era: 'modern', trustAnnotations: true });
    expect([...entry.headers]).toEqual([
      ['A', 'b'],
      ['N', '7'],
    ]);
    expect([...entry.limits]).toEqual([['idleMs', 5]]);
  });

  test('keeps an address with variables for later, and says what has no meaning', () => {
    expect(http(`{"url": "\${BASE}/mcp"}`).entry.url).toBe(`\${BASE}/mcp`);
    expect(http('{"type": "http", "url": "https://x", "command": "npx", "env": {}}').codes).toEqual([
      'key_without_meaning',
      'key_without_meaning',
    ]);
  });

  test('keeps the command that prints headers as it is written, for the shell', () => {
    const { entry, codes } = http(`{"url": "https://x", "headersHelper": " ./token.sh \\"\${HOME}\\" "}`);
    expect(entry.headersHelper).toBe(`./token.sh "\${HOME}"`);
    expect(codes).toEqual([]);
  });

  test('an output limit is a whole number of characters', () => {
    const { entry, codes } = http('{"url": "https://x", "maxResultChars": 9000, "idleMs": 0.5}');
    expect([...entry.limits]).toEqual([['maxResultChars', 9000]]);
    expect(codes).toEqual(['odd_value']);
  });
});
