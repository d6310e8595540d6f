import type { Recorder } from '../contracts/index.ts';
import { otlpTelemetry, readOtlpSettings } from '../dispatch/index.ts';
import { counted } from './counted.ts';
import type { CommandIo } from './command.ts';
import { version } from './version.ts';
import type { Workspace } from './workspace.ts';

/** Spans and metrics of one process, as a command uses them. */
export interface OpenTelemetry {
  /** Undefined where nobody asked for them. */
  readonly recorder: Recorder | undefined;
  /**
   * Sends what is left, for some seconds at most.
   *
   * @param stopped once aborted, for one more second at most
   */
  close(stopped: AbortSignal): Promise<void>;
}

/**
 * Begins to send telemetry where the environment of the command says so, and nowhere else: what a project's files say
 * reaches neither this nor an address.
 *
 * @param tell shows a warning to the person
 */
export function openTelemetry(
  { servers }: Pick<Workspace, 'servers'>,
  { env }: Pick<CommandIo, 'env'>,
  tell: (text: string) => void,
): OpenTelemetry {
  const settings = readOtlpSettings(env);
  if (!settings) return { recorder: undefined, async close() {} };
  for (const problem of settings.problems) tell(problem);
  if (!settings.traces && !settings.metrics) return { recorder: undefined, async close() {} };
  const { recorder, close } = otlpTelemetry({
    settings,
    version: version(),
    connections: servers.map(({ connection }) => connection),
    onProblem: tell,
  });
  return {
    recorder,
    async close(stopped) {
      const lost = await close(stopped);
      if (lost > 0) tell(`${counted(lost, 'span')} of the telemetry could not be sent.`);
    },
  };
}
