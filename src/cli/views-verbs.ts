import type { OptionSpec, VerbSpec } from './command.ts';

const OPTIONS = {
  'mcp-config': {
    type: 'string',
    multiple: true,
    value: 'FILE',
    help: 'take servers from this file too; naming it trusts it (repeatable)',
  },
  'trust-project': { type: 'boolean', help: "trust this folder's .mcp.json and bridle.json for this run" },
  json: { type: 'boolean', help: 'print JSON on stdout' },
} as const satisfies Record<string, OptionSpec>;

const WHICH =
  'A name as list shows it, the name that the view has in its file, or the key of a server for all of its views.';

/** The verbs of `bridle views`, in the order of its help. */
export const VIEWS_VERBS: Readonly<Record<string, VerbSpec>> = {
  list: {
    summary: 'list the views of this project, and whether each is used',
    usage: '',
    details: 'Starts the servers, once the project is trusted. Looking agrees to nothing.',
    options: { stopped: { type: 'boolean', help: 'only those whose tool has changed' }, ...OPTIONS },
    examples: [
      ['bridle views list', 'all of them'],
      ['bridle views list --stopped --json', 'what there is to look at, for scripts'],
    ],
    positionals: [0, 0],
  },
  show: {
    summary: 'show what a view takes away, what the model reads, and what changed behind it',
    usage: '<view>',
    details: `${WHICH}\nStarts the servers, once the project is trusted.`,
    options: OPTIONS,
    examples: [
      ['bridle views show mcp__web__load_document', 'one of them, whole'],
      ['bridle views show web --json', 'of a server, for scripts'],
    ],
    positionals: [1, 1],
  },
  accept: {
    summary: 'agree that a view still fits the tool behind it, as that is now',
    usage: '<view>',
    details:
      `${WHICH}\nStarts the servers, once the project is trusted.\n\n` +
      'What you accept is kept for you in this project. With --write it also goes into the bridle.json in which the view\n' +
      'stands, as "upstream", for everybody who has the file.',
    options: {
      seen: { type: 'string', value: 'FINGERPRINT', help: 'only this definition, as show tells it' },
      write: { type: 'boolean', help: 'write it into the file of the view, too' },
      ...OPTIONS,
    },
    examples: [
      ['bridle views accept mcp__web__load_document', 'one view'],
      ['bridle views accept load_document --write', 'for everybody who has the file'],
    ],
    positionals: [1, 1],
  },
};
