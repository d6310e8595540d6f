import { APPROVALS_VERBS } from './approvals-verbs.ts';
import type { CommandSpec, OptionSpec } from './command.ts';
import { GATEWAY_COMMAND } from './gateway-command.ts';
import { MCP_VERBS } from './mcp-verbs.ts';
import { PINS_VERBS } from './pins-verbs.ts';
import { READY_OPTIONS } from './ready.ts';
import { SIM_COMMAND } from './sim-command.ts';
import { VIEWS_VERBS } from './views-verbs.ts';

const PROJECT_OPTIONS = {
  'mcp-config': {
    type: 'string',
    multiple: true,
    value: 'FILE',
    help: 'take servers from this file too; naming it trusts it (repeatable)',
  },
  'trust-project': { type: 'boolean', help: "trust this folder's .mcp.json and bridle.json for this run" },
} as const satisfies Record<string, OptionSpec>;

const RUN_OPTIONS = {
  model: {
    type: 'string',
    value: 'MODEL',
    help: 'offline (default), claude-…, anthropic:ID, openai:ID or openai:ID@URL; also $BRIDLE_MODEL',
  },
  allow: {
    type: 'string',
    multiple: true,
    value: 'RULE',
    help: "allow matching tools in this run, e.g. 'mcp__fs__*' (repeatable)",
  },
  mode: { type: 'string', value: 'MODE', help: 'default, plan, dontAsk, acceptEdits or bypassPermissions' },
  agent: { type: 'string', value: 'NAME', help: "as the agent that a file describes; see 'bridle agents list'" },
  subagent: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    help: 'let it start the agent that this file describes (repeatable)',
  },
  'max-turns': { type: 'string', value: 'N', help: 'stop after N requests to the model (default: 50)' },
  'tool-search': {
    type: 'string',
    value: 'WAY',
    help: 'auto: search instead of showing many tools (default); client: for marked tools; off',
  },
  'server-log-level': { type: 'string', value: 'LEVEL', help: 'ask servers for their log from this level on; off' },
  ...READY_OPTIONS,
} as const satisfies Record<string, OptionSpec>;

const JSON_OPTION = { type: 'boolean', help: 'print JSON on stdout' } as const satisfies OptionSpec;

/** Every command, in the order of the help. The code behind a row is loaded only when the row is run. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'run',
    summary: 'give an agent a task, with the tools of this project',
    usage: '"task" | --resume [ID] | --replay FILE',
    details:
      '@file, @server:uri and /server:prompt in the task stand for documents and prompts.\n' +
      "The answer goes to stdout, every step to stderr. Without a terminal a call that your rules don't allow is\n" +
      'refused, and the refusal says which rule would allow it.\n\n' +
      'Exit status: 0 answered, 1 failed, 2 bad usage or configuration, 3 the agent asked a question, 4 the model\n' +
      'refused, 5 the answer was cut, 6 a limit was reached, 7 the project is not trusted, 8 a required server is not\n' +
      'ready, 9 a call waits for approval, 130 interrupted.',
    options: {
      ...RUN_OPTIONS,
      'max-seconds': { type: 'string', value: 'N', help: 'stop after N seconds' },
      'max-tokens': { type: 'string', value: 'N', help: 'stop after N tokens, input and output together' },
      'max-cost': { type: 'string', value: 'USD', help: 'stop when the run has cost this much' },
      ...PROJECT_OPTIONS,
      json: { ...JSON_OPTION, help: 'print the result as one JSON object on stdout' },
      resume: { type: 'boolean', help: 'go on with the run of this ID, or the newest of this folder that broke off' },
      record: {
        type: 'string',
        value: 'FILE',
        help: 'record what it exchanges with its model and servers, without secrets',
      },
      replay: {
        type: 'string',
        value: 'FILE',
        help: 'play such a recording again, offline; ends with 1 when anything is otherwise',
      },
      park: { type: 'boolean', help: "leave what would be asked for 'bridle approvals' where nobody can be asked" },
      'park-seconds': { type: 'string', value: 'N', help: 'park, and wait up to N seconds for each answer' },
      report: { type: 'boolean', help: 'say at the end what each reply cost, and what of it was cached' },
      quiet: { type: 'boolean', help: 'no steps on stderr' },
    },
    examples: [
      ['bridle run "Read notes.txt" --allow \'mcp__fs__read_*\'', 'one task, some tools allowed'],
      ['bridle run "Summarise notes.txt" --model claude-sonnet-5-5', 'with a hosted model'],
      ['bridle run "List my orders" --mcp-config shop.json --json', 'for scripts'],
      ['bridle run --resume', 'on where a run was killed'],
    ],
    positionals: [0, 1],
    load: () => import('./run.ts'),
  },
  {
    name: 'chat',
    summary: 'talk with an agent that has the tools of this project',
    usage: '[--continue | --resume [ID]]',
    details:
      'Asks before a call that your rules do not allow; Ctrl-C stops the agent and keeps the session; /help shows what\n' +
      'can be done. In a pipe each line is a turn, only answers go to stdout, and what would be asked is refused.',
    options: {
      model: RUN_OPTIONS.model,
      allow: { ...RUN_OPTIONS.allow, help: "allow matching tools in this chat, e.g. 'mcp__fs__*' (repeatable)" },
      mode: RUN_OPTIONS.mode,
      agent: RUN_OPTIONS.agent,
      subagent: RUN_OPTIONS.subagent,
      'max-turns': { ...RUN_OPTIONS['max-turns'], help: 'stop a turn after N requests to the model (default: 50)' },
      'tool-search': RUN_OPTIONS['tool-search'],
      'server-log-level': RUN_OPTIONS['server-log-level'],
      ...READY_OPTIONS,
      continue: { type: 'boolean', help: 'go on with the last chat of this folder' },
      resume: { type: 'boolean', help: 'go on with the chat of this ID, or choose one' },
      ...PROJECT_OPTIONS,
    },
    examples: [
      ['bridle chat', 'with the offline planner'],
      ['bridle chat --model claude-sonnet-5-5 --continue', 'on with the last one'],
      ["echo 'List my orders' | bridle chat --mcp-config shop.json", 'in a pipe'],
    ],
    positionals: [0, 1],
    load: () => import('./chat.ts'),
  },
  {
    name: 'demo',
    summary: 'watch an agent refund an order through a real MCP server, under a rule',
    usage: '',
    details: 'Needs no key and no network. It answers its own questions from a script that it prints.',
    options: {},
    examples: [['bridle demo', 'the whole tour, step by step']],
    positionals: [0, 0],
    load: () => import('./demo.ts'),
  },
  GATEWAY_COMMAND,
  {
    name: 'mcp',
    summary: 'add, list, import and remove servers',
    usage: '<verb>',
    details:
      'A server stands in one of three scopes: local (you, in this project), project (.mcp.json, for everybody who has\n' +
      'the folder) or user (you, everywhere). On a clash local goes before project, and project before user.\n' +
      "Each verb has a help of its own: 'bridle mcp add --help'.",
    options: { json: JSON_OPTION },
    examples: [
      ['bridle mcp add fs -- npx -y my-server@1.2.3 .', 'a server started by a command'],
      ['bridle mcp add --transport http notion https://mcp.notion.com/mcp', 'one reached over the network'],
      ['bridle mcp list', 'what there is, and whether it works'],
      ['bridle mcp import --dry-run', 'what your other programs have'],
    ],
    positionals: [1, Number.POSITIVE_INFINITY],
    verbs: MCP_VERBS,
    load: () => import('./mcp.ts'),
  },
  {
    name: 'agents',
    summary: 'list the agents that files describe, and show what one is told and may use',
    usage: 'list | show <name>',
    details:
      'Reads .claude/agents of this project, and your own: agents in the folder of your settings, and ~/.claude/agents.\n' +
      "Nothing is started, and nothing is trusted by looking. 'bridle run --agent NAME' uses one.",
    options: { json: JSON_OPTION },
    examples: [
      ['bridle agents list', 'those that there are, and why a file is none'],
      ['bridle agents show reviewer', 'its tools and its instructions'],
    ],
    positionals: [1, 2],
    load: () => import('./agents.ts'),
  },
  {
    name: 'hooks',
    summary: 'list the commands that files put behind events, and whether they run',
    usage: 'list',
    details:
      "Reads 'hooks' of the bridle.json files, in the form of Claude Code's settings. Nothing is run, and nothing is trusted\n" +
      'by looking.',
    options: { json: JSON_OPTION },
    examples: [
      ['bridle hooks list', 'those that there are, and why one is not run'],
      ['bridle hooks list --json', 'for scripts'],
    ],
    positionals: [1, 1],
    load: () => import('./hooks.ts'),
  },
  {
    name: 'tools',
    summary: 'list the tools an agent would have here, and those set aside, with the reasons',
    usage: 'list',
    options: {
      ...PROJECT_OPTIONS,
      agent: { type: 'string', value: 'NAME', help: 'as this agent' },
      strict: { type: 'boolean', help: 'say which of them the API can hold a model to, and why not the others' },
      json: JSON_OPTION,
    },
    examples: [
      ['bridle tools list', 'the tools of this project'],
      ['bridle tools list --mcp-config shop.json --json', 'of another file, for scripts'],
    ],
    positionals: [1, 1],
    load: () => import('./tools.ts'),
  },
  {
    name: 'explain',
    summary: 'say where a tool comes from, what it is called and why, and which rules and hooks decide over it',
    usage: '<tool>',
    options: {
      ...PROJECT_OPTIONS,
      agent: { type: 'string', value: 'NAME', help: 'for this agent only' },
      args: { type: 'string', value: 'JSON', help: 'for a call with these arguments' },
      json: JSON_OPTION,
    },
    examples: [
      ['bridle explain mcp__shop__refund_transaction', 'why it is shown, asked about or hidden'],
      [`bridle explain mcp__fs__write_file --args '{"path": "docs/a"}'`, 'what a call of it would meet'],
    ],
    positionals: [1, 1],
    load: () => import('./explain.ts'),
  },
  {
    name: 'policy',
    summary: 'check the rules of all files, or run a table of expectations against them',
    usage: 'check | test FILE',
    details:
      'Starts no server and asks nobody; allow rules of the project count as if it were trusted.\n' +
      "Exit status: 0 all is well, 1 there are problems or a case came out otherwise, 2 a file can't be read.",
    options: { mode: RUN_OPTIONS.mode, json: JSON_OPTION },
    examples: [
      ['bridle policy check', 'each problem with its file and line'],
      ['bridle policy test rules.test.json', 'for CI'],
    ],
    positionals: [1, 2],
    load: () => import('./policy.ts'),
  },
  {
    name: 'approvals',
    summary: 'answer what agents asked while nobody was there',
    usage: '<verb>',
    details:
      "An agent that runs with --park leaves its questions here. Each verb has a help of its own: 'bridle approvals\n" +
      "approve --help'.",
    options: { json: JSON_OPTION },
    examples: [
      ['bridle approvals list', 'what there is to decide'],
      ['bridle approvals show p2m4k7f8', 'one of them, whole'],
      ['bridle approvals approve p2m4k7f8', 'let it run, once'],
    ],
    positionals: [1, Number.POSITIVE_INFINITY],
    verbs: APPROVALS_VERBS,
    load: () => import('./approvals.ts'),
  },
  {
    name: 'pins',
    summary: 'see what servers changed of their tools, and agree to it',
    usage: '<verb>',
    details:
      'A tool is pinned as it is first used in a project; one that is defined otherwise later is held back until you accept\n' +
      "it. Each verb has a help of its own: 'bridle pins accept --help'.",
    options: { json: JSON_OPTION },
    examples: [
      ['bridle pins list --waiting', 'what is held back'],
      ['bridle pins show mcp__shop__refund', 'what changed'],
      ['bridle pins accept mcp__shop__refund', 'agree to it'],
      ['bridle pins prune', 'take away what no server uses any more'],
      ['bridle pins lock', 'for everybody who has the folder'],
    ],
    positionals: [1, Number.POSITIVE_INFINITY],
    verbs: PINS_VERBS,
    load: () => import('./pins.ts'),
  },
  {
    name: 'views',
    summary: 'see what narrows the tools here, and agree that it still fits them',
    usage: '<verb>',
    details:
      'A view is stopped when the tool behind it is defined otherwise than it was reviewed, until you accept it. Each verb\n' +
      "has a help of its own: 'bridle views accept --help'.",
    options: { json: JSON_OPTION },
    examples: [
      ['bridle views list', 'each view, and whether it is used'],
      ['bridle views show mcp__web__load_document', 'what it takes away, and what changed behind it'],
      ['bridle views accept mcp__web__load_document', 'it still fits'],
    ],
    positionals: [1, Number.POSITIVE_INFINITY],
    verbs: VIEWS_VERBS,
    load: () => import('./views.ts'),
  },
  {
    name: 'trace',
    summary: 'look at what earlier runs did: each call, its decision, its time and its end',
    usage: 'list | show [RUN] | fork [RUN] --at N',
    details:
      'show and fork take the start of a run id, and the newest run when none is given. fork makes a new run of the first\n' +
      "N events, for 'bridle run --resume'; show --events numbers them, and marks with * where a run can be forked.",
    options: {
      json: JSON_OPTION,
      events: { type: 'boolean', help: 'show: a numbered line for each event' },
      at: { type: 'string', value: 'N', help: 'fork: how many events the new run keeps' },
      limit: { type: 'string', value: 'N', help: 'list: at most N runs (default: 20)' },
    },
    examples: [
      ['bridle trace list', 'the newest runs'],
      ['bridle trace show', 'the last run, call by call'],
      ['bridle trace show 20261130-1 --json', 'its records, one a line'],
      ['bridle trace fork 20261130-1 --at 12', 'go on from its twelfth event'],
    ],
    positionals: [1, 2],
    load: () => import('./trace.ts'),
  },
  {
    name: 'audit',
    summary: 'show who did what and why it was allowed, and prove that nobody changed it since',
    usage: 'list|show|export|verify|heads|prune',
    details:
      'show takes the id of a call, or WRITER:NUMBER as list shows it. verify goes through every chain; with heads that\n' +
      'were kept elsewhere it also notices what is missing at an end. prune removes old records and keeps a signed anchor,\n' +
      'so that the rest still verifies. Times are dates such as 2026-01-31, or ages such as 12h and 90d.',
    options: {
      agent: { type: 'string', value: 'NAME', help: 'list, show: only of this agent' },
      tool: { type: 'string', value: 'NAME', help: 'list, show: only of this tool; * stands for any characters' },
      outcome: {
        type: 'string',
        value: 'KIND',
        help: 'list, show: only with this end: ok, denied, failed, unknown, …',
      },
      since: { type: 'string', value: 'TIME', help: 'list, show: from then on' },
      until: { type: 'string', value: 'TIME', help: 'list, show: up to then' },
      limit: { type: 'string', value: 'N', help: 'list: at most the last N calls (default: 50)' },
      heads: { type: 'string', value: 'FILE', help: 'verify: heads that were exported earlier' },
      repair: { type: 'boolean', help: 'verify: first cut off what killed writers left half written' },
      before: { type: 'string', value: 'TIME', help: 'prune: remove records from before' },
      'dry-run': { type: 'boolean', help: 'prune: only say what would be removed' },
      json: JSON_OPTION,
    },
    examples: [
      ['bridle audit list --outcome denied --since 7d', 'what was refused this week'],
      ['bridle audit heads --json > heads.json', 'to be kept somewhere else'],
      ['bridle audit verify --heads heads.json', 'has anything been changed or cut off?'],
      ['bridle audit prune --before 365d', 'older records go'],
    ],
    positionals: [1, 2],
    load: () => import('./audit.ts'),
  },
  SIM_COMMAND,
  {
    name: 'import-settings',
    summary: "turn the permissions of Claude Code's settings into rules, and say what has no meaning here",
    usage: '',
    details:
      'Reads .claude/settings.json and .claude/settings.local.json of this project into its bridle.json, and your own\n' +
      '~/.claude/settings.json into yours. Rules that are there already stay. A mode is only taken from your own file.',
    options: {
      from: { type: 'string', multiple: true, value: 'FILE', help: 'read this file instead (repeatable)' },
      to: { type: 'string', value: 'project|user', help: 'put the rules there' },
      'dry-run': { type: 'boolean', help: 'only say what would be done' },
      json: JSON_OPTION,
    },
    examples: [
      ['bridle import-settings --dry-run', 'look first'],
      ['bridle import-settings --from old/settings.json --to user', 'from another file, for every project'],
    ],
    positionals: [0, 0],
    load: () => import('./import-settings.ts'),
  },
  {
    name: 'init',
    summary: 'write a bridle.json with comments, and an agent with a tool to start from',
    usage: '[FOLDER]',
    details: 'Nothing is overwritten: a file that is there already is left as it is, and named.',
    options: { json: JSON_OPTION },
    examples: [
      ['bridle init', 'in this folder'],
      ['bridle init my-agent', 'in a new one'],
    ],
    positionals: [0, 1],
    load: () => import('./init.ts'),
  },
];
