/** What the process's exit status says: one number for each way a run can end. Documented in `docs/exit-codes.md`. */
export const EXIT = {
  answered: 0,
  failed: 1,
  usage: 2,
  asked: 3,
  refused: 4,
  truncated: 5,
  limit: 6,
  not_trusted: 7,
  not_ready: 8,
  waiting: 9,
  aborted: 130,
} as const;

/** Errors that say "the call was wrong" rather than "it went wrong". */
const USAGE_CODES =
  /^(usage|config_.*|model_unknown|model_no_key|model_bad_url|cost_unknown|agent_un(known|usable)|gateway_(no_agents|agent_unknown))$/;

export function exitCodeOfError(code: string): number {
  if (code === 'project_not_trusted') return EXIT.not_trusted;
  if (code === 'servers_not_ready') return EXIT.not_ready;
  if (code === 'aborted') return EXIT.aborted;
  return USAGE_CODES.test(code) ? EXIT.usage : EXIT.failed;
}
