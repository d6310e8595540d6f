import type { OptionSpec, VerbSpec } from './command.ts';

const JSON_OPTION = { type: 'boolean', help: 'print JSON on stdout' } as const satisfies OptionSpec;

const SERVER_OPTIONS = {
  'mcp-config': {
    type: 'string',
    multiple: true,
    value: 'FILE',
    help: 'take servers from this file too; naming it trusts it (repeatable)',
  },
  'trust-project': { type: 'boolean', help: "trust this folder's .mcp.json and bridle.json for this run" },
  project: { type: 'boolean', help: "only the servers of the project's own file" },
  json: JSON_OPTION,
} as const satisfies Record<string, OptionSpec>;

/** The verbs of `bridle pins`, in the order of its help. */
export const PINS_VERBS: Readonly<Record<string, VerbSpec>> = {
  list: {
    summary: 'list the tools that are pinned in this project, and those that are held back',
    usage: '',
    options: { waiting: { type: 'boolean', help: 'only those that are held back' }, json: JSON_OPTION },
    examples: [['bridle pins list --waiting', 'what there is to look at']],
    positionals: [0, 0],
  },
  show: {
    summary: 'show what a tool is pinned as, and what changed since',
    usage: '<tool>',
    details: 'An id as list shows it, a name such as mcp__shop__refund, or the key of a server for all of its tools.',
    options: { json: JSON_OPTION },
    examples: [
      ['bridle pins show mcp__shop__refund', 'its definition, and each place that differs'],
      ['bridle pins show shop --json', 'of a server, for scripts'],
    ],
    positionals: [1, 1],
  },
  accept: {
    summary: 'agree to what is held back, as it was seen last',
    usage: '<tool>',
    details: 'Approvals of the tool as it was defined before are void.',
    options: {
      seen: { type: 'string', value: 'FINGERPRINT', help: 'only this definition, as show tells it' },
      json: JSON_OPTION,
    },
    examples: [
      ['bridle pins accept mcp__shop__refund', 'one tool'],
      ['bridle pins accept shop', 'all that a server changed'],
    ],
    positionals: [1, 1],
  },
  check: {
    summary: 'compare the tools that are here with bridle.lock.json',
    usage: '',
    details: 'Starts the servers, once the project is trusted.\nExit status: 0 all is as locked, 1 something differs.',
    options: SERVER_OPTIONS,
    examples: [['bridle pins check --trust-project', 'for CI']],
    positionals: [0, 0],
  },
  lock: {
    summary: 'write the tools that are here, as they are defined, to bridle.lock.json',
    usage: '',
    details: 'Starts the servers, once the project is trusted. What is held back has to be accepted first.',
    options: SERVER_OPTIONS,
    examples: [
      ['bridle pins lock', 'all servers that run here, your own among them'],
      ['bridle pins lock --project', 'for everybody who has the folder'],
    ],
    positionals: [0, 0],
  },
};
