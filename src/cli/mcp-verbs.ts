import type { OptionSpec, VerbSpec } from './command.ts';

const JSON_OPTION = { type: 'boolean', help: 'print JSON on stdout' } as const satisfies OptionSpec;
const SCOPE = {
  type: 'string',
  short: 's',
  value: 'SCOPE',
  help: 'local, project or user',
} as const satisfies OptionSpec;
const FORCE = { type: 'boolean', help: 'replace a server of that name' } as const satisfies OptionSpec;
const CHECKS = {
  'no-check': { type: 'boolean', help: 'only read the files: start nothing' },
  'max-seconds': { type: 'string', value: 'N', help: 'give each server N seconds to answer (default: 10)' },
} as const satisfies Record<string, OptionSpec>;

/** The verbs of `bridle mcp`, in the order of its help. Names and flags are those that people know from `claude mcp`. */
export const MCP_VERBS: Readonly<Record<string, VerbSpec>> = {
  add: {
    summary: 'add a server: a command, or an address',
    usage: '<name> -- <command> [argument…] | <name> <url>',
    details:
      "What stands after -- is the server's own command, word by word; no shell reads it. A secret is best written as\n" +
      `'\${NAME}' (in single quotes) and set in your environment, so that it stands in no file.`,
    options: {
      transport: {
        type: 'string',
        short: 't',
        value: 'KIND',
        help: 'stdio (default for a command), http (default for a URL) or sse',
      },
      scope: { ...SCOPE, help: 'local (default), project or user' },
      env: { type: 'string', short: 'e', multiple: true, value: 'NAME=value', help: 'a variable for it (repeatable)' },
      header: {
        type: 'string',
        short: 'H',
        multiple: true,
        value: "'Name: value'",
        help: 'a header for each request to it (repeatable)',
      },
      force: FORCE,
      json: JSON_OPTION,
    },
    examples: [
      ['bridle mcp add fs -- npx -y my-server@1.2.3 .', 'for you, in this project'],
      [`bridle mcp add gh -s user -e 'TOKEN=\${GITHUB_TOKEN}' -- gh-server`, 'everywhere'],
      ['bridle mcp add --scope project orders -- node server.js', 'for everybody who has this folder'],
      [`bridle mcp add api https://example.com/mcp -H 'X-Key: \${KEY}'`, 'over the network'],
    ],
    positionals: [2, Number.POSITIVE_INFINITY],
  },
  'add-json': {
    summary: 'add a server from its entry as JSON',
    usage: "<name> '<json>'",
    details: 'The JSON is one entry, as it stands under "mcpServers". Comments and trailing commas are fine.',
    options: { scope: { ...SCOPE, help: 'local (default), project or user' }, force: FORCE, json: JSON_OPTION },
    examples: [
      [
        'bridle mcp add-json fs \'{"command": "npx", "args": ["-y", "server@1.2.3"]}\'',
        'as a page tells you to write it',
      ],
    ],
    positionals: [2, 2],
  },
  list: {
    summary: 'list the servers, their state, and why one is not used',
    usage: '',
    details:
      'Starts those that are trusted and not disabled, to see whether they answer, and ends them again. What a project\n' +
      'wants to start is not started before you trusted it. Of variables and headers only the names are shown.',
    options: { ...CHECKS, json: JSON_OPTION },
    examples: [
      ['bridle mcp list', 'of this folder'],
      ['bridle mcp list --no-check --json', 'for scripts'],
    ],
    positionals: [0, 0],
  },
  get: {
    summary: 'show one server: its entries in every scope, which one counts, and how it is',
    usage: '<name>',
    options: { ...CHECKS, json: JSON_OPTION },
    examples: [['bridle mcp get fs', 'everything there is to know about it']],
    positionals: [1, 1],
  },
  remove: {
    summary: 'take a server out of its file',
    usage: '<name>',
    options: { scope: { ...SCOPE, help: 'which one, where the name stands in several scopes' }, json: JSON_OPTION },
    examples: [
      ['bridle mcp remove fs', 'from the only scope it stands in'],
      ['bridle mcp remove fs --scope user', 'from yours alone'],
    ],
    positionals: [1, 1],
  },
  enable: {
    summary: 'take back a disable',
    usage: '<name>',
    options: { scope: { ...SCOPE, help: "in this scope's entry itself" }, json: JSON_OPTION },
    examples: [['bridle mcp enable fs', 'for you']],
    positionals: [1, 1],
  },
  disable: {
    summary: 'keep a server from being started, and keep its entry',
    usage: '<name>',
    details:
      'Without --scope it holds for you in this project, wherever the server comes from, and no shared file is changed.',
    options: { scope: { ...SCOPE, help: "write it into this scope's entry" }, json: JSON_OPTION },
    examples: [
      ['bridle mcp disable fs', 'for you, in this project'],
      ['bridle mcp disable fs --scope project', 'for everybody who has the folder'],
    ],
    positionals: [1, 1],
  },
  import: {
    summary: 'take over the servers of Claude Code, Claude Desktop, VS Code and Cursor',
    usage: '',
    details:
      'Reads ~/.claude.json, ~/.claude/settings.json, the file of Claude Desktop, ~/.cursor/mcp.json, and of this project\n' +
      '.vscode/mcp.json, .cursor/mcp.json and .claude/settings*.json. It says what it took, what it left, and why.\n' +
      "What lies in the project goes to its .mcp.json, where it is asked about; the rest is yours. Other programs' files\n" +
      'are only read.',
    options: {
      from: { type: 'string', multiple: true, value: 'FILE', help: 'read this file instead (repeatable)' },
      scope: { ...SCOPE, help: 'put everything there' },
      'dry-run': { type: 'boolean', help: 'only say what would be done' },
      force: { ...FORCE, help: 'replace servers that are there already' },
      json: JSON_OPTION,
    },
    examples: [
      ['bridle mcp import --dry-run', 'look first'],
      ['bridle mcp import', 'then do it'],
      ['bridle mcp import --from servers.json --scope user', 'one file, for every project'],
    ],
    positionals: [0, 0],
  },
  'reset-project-choices': {
    summary: 'forget that you trusted this project, so that you are asked again',
    usage: '',
    options: { json: JSON_OPTION },
    examples: [['bridle mcp reset-project-choices', 'in the project’s folder']],
    positionals: [0, 0],
  },
};
