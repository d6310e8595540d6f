import type { CatalogHandle } from '../catalog/index.ts';
import type { Found, IdempotencyLedger, Identity, Json, Model, Policy } from '../contracts/index.ts';
import type { createResultStore } from '../dispatch/index.ts';
import type { StrictChoice } from '../tools/index.ts';
import type { AgentHooks } from './agent-hooks.ts';
import type { AgentOptions, RunJournal, RunOptions } from './agent-options.ts';
import type { OriginBook } from './origin-book.ts';
import type { ProviderTools } from './provider-tools.ts';
import type { ResumeOptions } from './resume/resume-options.ts';
import type { RunSegment } from './resume/run-segment.ts';
import type { Run } from './run.ts';
import type { Subagents } from './subagents/subagents.ts';

/** What all runs of an agent share. */
export interface AgentParts {
  readonly options: AgentOptions;
  readonly model: Model;
  readonly who: Identity;
  readonly policy: Policy;
  readonly catalog: CatalogHandle;
  readonly hooks: AgentHooks;
  /** Reads on in results that were cut. */
  readonly reader: Found;
  readonly results: ReturnType<typeof createResultStore>;
  readonly idempotency: IdempotencyLedger;
  readonly subagents?: Subagents;
  /** Tools that the model's provider runs. */
  readonly provided?: ProviderTools;
  /** What is known of the conversation already. Default: what its messages say. */
  book?(): OriginBook;
  isClosed(): boolean;
}

export interface RunStarter {
  /** Starts a run: `hookNotes` is what hooks said of its input. Whatever goes wrong is the run's end. */
  begin(input: string | Json[], runOptions: RunOptions, conversation: string, hookNotes?: readonly string[]): Run;
  /**
   * Goes on with a run that broke off.
   *
   * @throws BridleError `agent_closed`, `run_other_model`, `messages_invalid`, `journal_damaged`, `limits_invalid`
   */
  resume(segment: RunSegment, journal: RunJournal, options: ResumeOptions, conversation: string): Promise<Run>;
  /** What was chosen for the tools that a run would begin with. */
  strict(): readonly StrictChoice[];
}
