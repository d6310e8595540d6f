import type { OptionSpec, VerbSpec } from './command.ts';

const JSON_OPTION = { type: 'boolean', help: 'print JSON on stdout' } as const satisfies OptionSpec;

/** The verbs of `bridle approvals`, in the order of its help. */
export const APPROVALS_VERBS: Readonly<Record<string, VerbSpec>> = {
  list: {
    summary: 'list what waits for an answer, what is approved and not used yet, and what is allowed always',
    usage: '',
    options: {
      all: { type: 'boolean', help: 'also what was used, denied, has expired or is void' },
      agent: { type: 'string', value: 'NAME', help: 'of this agent' },
      json: JSON_OPTION,
    },
    examples: [['bridle approvals list', 'what there is to decide']],
    positionals: [0, 0],
  },
  show: {
    summary: 'show one whole: the arguments, what the call would do, why it was asked about, what came of it',
    usage: '<id>',
    options: { json: JSON_OPTION },
    examples: [['bridle approvals show 3fq0x1k8-p2m4k7f8', 'an id, or its beginning or end, 4 characters or more']],
    positionals: [1, 1],
  },
  approve: {
    summary: 'let a call run, once',
    usage: '<id>',
    details:
      'The call runs when it is made again: give the agent the same task. Its facts are looked up again then, and the\n' +
      'rules are asked again; a deny rule still denies.',
    options: {
      always: { type: 'boolean', help: 'and later calls of this tool by this agent in this project, for 30 days' },
      when: {
        type: 'string',
        multiple: true,
        value: '/ARGUMENT=PATTERN',
        help: 'with --always: only with such arguments, * stands for anything (repeatable)',
      },
      args: { type: 'string', value: 'JSON', help: 'run it with these arguments instead' },
      json: JSON_OPTION,
    },
    examples: [
      ['bridle approvals approve p2m4k7f8', 'this one call'],
      ["bridle approvals approve p2m4k7f8 --always --when '/path=notes/*'", 'and others like it'],
    ],
    positionals: [1, 1],
  },
  deny: {
    summary: 'refuse a call, or take back an approval that was not used',
    usage: '<id>',
    options: { reason: { type: 'string', value: 'TEXT', help: 'told to the agent' }, json: JSON_OPTION },
    examples: [['bridle approvals deny p2m4k7f8 --reason "The customer keeps it."', 'with the reason']],
    positionals: [1, 1],
  },
  revoke: {
    summary: 'end what was allowed always',
    usage: '<id>',
    options: { json: JSON_OPTION },
    examples: [['bridle approvals revoke always-3fq0x1k8-9z1y2x3w', 'ask about it again']],
    positionals: [1, 1],
  },
};
