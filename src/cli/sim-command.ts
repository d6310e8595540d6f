import type { CommandSpec } from './command.ts';

/** The row of `bridle sim`. */
export const SIM_COMMAND: CommandSpec = {
  name: 'sim',
  summary: 'stand in for the Messages API on this machine, and refuse what it refuses',
  usage: '',
  details:
    'Prints the address and the two lines that point a program at it, then a line for each request: what it got, or the\n' +
    'rules it broke. Replies come from the offline planner, a script or a cassette. No key, no network. Ctrl-C ends it.\n\n' +
    'A script is a JSON list of turns: a text, {"text", "thinking", "calls": [{"name", "input"}], …}, {"fault": {"kind"}},\n' +
    'or a recorded response body. A fault is KIND[:VALUE][@N], N being the request or *: 429[:seconds], 529, 500, drop,\n' +
    'drop_during, error_during, slow[:ms], truncate, truncate_call, refusal, pause, no_call, stray_call, unknown_block,\n' +
    'unknown_stop.',
  options: {
    port: { type: 'string', value: 'N', help: 'listen there on loopback (default: any that is free)' },
    script: { type: 'string', value: 'FILE', help: 'reply from this file instead of the planner' },
    cassette: { type: 'string', value: 'FILE', help: "reply as in this recording of 'bridle run --record'" },
    model: { type: 'string', value: 'MODEL', help: 'reply from this model instead: offline (default) or another' },
    fault: { type: 'string', multiple: true, value: 'FAULT', help: 'let something go wrong (repeatable)' },
    split: { type: 'string', value: 'HOW', help: 'cut streamed texts: whole, words (default), awkward, or a length' },
    key: { type: 'string', value: 'KEY', help: 'take only this key (default: any)' },
    json: { type: 'boolean', help: 'print a JSON object a line: the address, then each request' },
  },
  examples: [
    ['bridle sim --port 4010', 'with the offline planner'],
    ['bridle sim --script turns.json --fault 429:2@2', 'a script, and a rate limit on the way'],
    ['bridle sim --json', 'for scripts'],
  ],
  positionals: [0, 0],
  load: () => import('./sim.ts'),
};
