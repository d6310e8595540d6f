import type { CommandSpec, OptionSpec, VerbSpec } from './command.ts';
import { READY_OPTIONS } from './ready.ts';

const CONFIG_OPTION = {
  type: 'string',
  value: 'FILE',
  help: "read agents from this file instead of your own 'gateway.json'",
} as const satisfies OptionSpec;
const JSON_OPTION = { type: 'boolean', help: 'print JSON on stdout' } as const satisfies OptionSpec;

const KEY_VERB: VerbSpec = {
  summary: 'make a key for an agent',
  usage: 'NAME',
  details: 'Prints the key, once, and the digest that the file keeps in its place. Nothing is written.',
  options: { config: CONFIG_OPTION, json: JSON_OPTION },
  examples: [['bridle gateway key support', 'for the agent named support']],
  positionals: [1, 1],
};

/** The row of `bridle gateway`. */
export const GATEWAY_COMMAND: CommandSpec = {
  name: 'gateway',
  summary: "put this project's servers behind one endpoint, where each agent sees only its own tools",
  usage: '[key NAME]',
  details:
    "Serves every server of .mcp.json at one address, to clients of either protocol era. Agents stand in 'gateway.json' among\n" +
    'your settings, with the digests of their keys and their rules; without that file one agent, for you alone, gets a new\n' +
    'key and all tools under your rules. What has to be asked about is answered at once with the number of an approval:\n' +
    "'bridle approvals' decides, and the same call then runs. The first Ctrl-C waits for calls under way, ten seconds at most.\n\n" +
    'Exit status: 0 ended, 1 failed, or --check found something; 2 bad usage or configuration, 7 the project is not\n' +
    'trusted, 8 a required server is not ready.',
  options: {
    host: { type: 'string', value: 'HOST', help: 'listen on this address (default: 127.0.0.1)' },
    port: { type: 'string', value: 'N', help: 'listen on this port, 0: any that is free (default: 8390)' },
    'operations-port': {
      type: 'string',
      value: 'N',
      help: 'tell /healthz, /readyz and /metrics on this port of 127.0.0.1, 0: any that is free',
    },
    config: CONFIG_OPTION,
    stdio: { type: 'boolean', help: 'serve the one client that started this, over its stdin and stdout' },
    as: { type: 'string', value: 'NAME', help: 'which agent that client is (--stdio)' },
    check: { type: 'boolean', help: 'start the servers, say what each agent would have and what is wrong, and end' },
    allow: {
      type: 'string',
      multiple: true,
      value: 'RULE',
      help: "allow matching tools to whoever sees them, e.g. 'mcp__fs__*' (repeatable)",
    },
    ...READY_OPTIONS,
    'mcp-config': {
      type: 'string',
      multiple: true,
      value: 'FILE',
      help: 'take servers from this file too; naming it trusts it (repeatable)',
    },
    'trust-project': { type: 'boolean', help: "trust this folder's .mcp.json and bridle.json for this run" },
    json: { ...JSON_OPTION, help: 'print a JSON object a line: what is served, then each call' },
    quiet: { type: 'boolean', help: 'no line for each call on stderr' },
  },
  examples: [
    ['bridle gateway', 'for you alone: prints the address, a key and what to paste'],
    ['bridle gateway --check', 'what would each agent have?'],
    ['bridle gateway --config agents.json --host 0.0.0.0', 'for a team'],
    ['bridle gateway --stdio --as support', 'for a client that starts its servers, such as Claude Desktop'],
  ],
  positionals: [0, 2],
  verbs: { key: KEY_VERB },
  load: () => import('./gateway.ts'),
};
