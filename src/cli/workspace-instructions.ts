import type { Reason } from '../contracts/index.ts';
import { instructionsReason, instructionsSection } from '../host/index.ts';
import type { WorkspacePins } from './workspace-pins.ts';
import type { WorkspaceServer } from './workspace-server.ts';

/** What the servers' authors say to the model, as far as they are trusted and the pins agree; empty where there is nothing. */
export function givenInstructions(servers: readonly WorkspaceServer[], pins: WorkspacePins): string {
  const given = servers.filter((server) => server.isEnabled && heldBack(server, pins) === undefined);
  return instructionsSection(given.map((server) => server.said()));
}

/** Whether a server's instructions go to the model, and why not; undefined where it has none. */
export function whetherGiven(server: WorkspaceServer, pins: WorkspacePins): Reason | undefined {
  return heldBack(server, pins) ?? instructionsReason(server.said()) ?? undefined;
}

/** Only what would go to the model is pinned, and only once the server has said whether there is any. */
function heldBack(server: WorkspaceServer, pins: WorkspacePins): Reason | undefined {
  const said = server.said();
  if (!said.server.trustAnnotations || server.connection.about === undefined) return undefined;
  return pins.instructions(said);
}
