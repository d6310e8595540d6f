import { readFileSync } from 'node:fs';
import type { JsonObject, ToolHost } from '../../contracts/index.ts';

let version: string | undefined;
function packageVersion(): string {
  version ??= String(JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version);
  return version;
}

/** What is served, and what is said of it. */
export interface Service {
  readonly host: ToolHost;
  readonly serverInfo: JsonObject;
  /** The same as JSON text. */
  readonly infoText: string;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
}

export function serviceOf(host: ToolHost): Service {
  const { instructions, ...info } = host.info ?? { name: 'bridle', version: packageVersion() };
  const serverInfo: JsonObject = { ...info };
  // All of content where there is some, since lists grow and differ by caller.
  const content = host.content && {
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
    completions: {},
  };
  return {
    host,
    serverInfo,
    infoText: JSON.stringify(serverInfo),
    capabilities: { tools: { listChanged: true }, logging: {}, ...content },
    instructions,
  };
}
