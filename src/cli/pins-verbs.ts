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
  project: { type: 'boolean', help: "only the servers of the project's own file, no others of any file" },
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
  forget: {
    summary: 'take pins away: what they were of is new again, and pinned as it is met next',
    usage: '<server> [tool]',
    details:
      'The key of a server for all of its pins, with the name of a tool for one of them; or an id or a name as list shows\n' +
      'it. To agree to a change that you looked at, use accept: forget trusts whatever comes next.',
    options: { json: JSON_OPTION },
    examples: [
      ['bridle pins forget shop', 'everything of a server'],
      ['bridle pins forget shop refund', 'one tool'],
    ],
    positionals: [1, 2],
  },
  prune: {
    summary: 'take away the pins of servers that are not configured here any more',
    usage: '',
    details:
      'Also those of a server whose command line or address is another now: they are of no use to it. What goes is shown.',
    options: {
      'mcp-config': {
        type: 'string',
        multiple: true,
        value: 'FILE',
        help: 'servers of this file are configured, too (repeatable)',
      },
      'dry-run': { type: 'boolean', help: 'only say what would be taken away' },
      json: JSON_OPTION,
    },
    examples: [
      ['bridle pins prune --dry-run', 'look first'],
      ['bridle pins prune', 'make room'],
    ],
    positionals: [0, 0],
  },
  check: {
    summary: 'compare the tools that are here with bridle.lock.json',
    usage: '',
    details:
      "The servers of the project's own file and of each --mcp-config; all, where your own bridle.json says locked. Starts\n" +
      'them, once the project is trusted.\nExit status: 0 all is as locked, 1 something differs.',
    options: SERVER_OPTIONS,
    examples: [['bridle pins check --trust-project', 'for CI']],
    positionals: [0, 0],
  },
  lock: {
    summary: 'write the tools that are here, as they are defined, to bridle.lock.json',
    usage: '',
    details:
      "The servers of the project's own file and of each --mcp-config; all, where your own bridle.json says locked. Starts\n" +
      'them, once the project is trusted. What is held back has to be accepted first.\n\n' +
      'The servers of a file that you name here are held to the lock wherever that file is named later.',
    options: SERVER_OPTIONS,
    examples: [
      ['bridle pins lock', 'for everybody who has the folder'],
      ['bridle pins lock --project', 'the same, where your own servers are locked too'],
    ],
    positionals: [0, 0],
  },
};
