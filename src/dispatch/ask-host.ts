import type { InputOrigin, Json, RawJson } from '../contracts/index.ts';
import type { Call, Path } from './call-path.ts';
import { recordedInput } from './recorded-input.ts';

/** Puts what a tool asks for in the middle of its call to the host, and records question and answer. */
export async function askHost(path: Path, call: Call, request: RawJson, from: InputOrigin): Promise<Json> {
  const ask = call.ctx.input;
  if (!ask) throw new Error('This host takes no requests from servers.');
  const { recorder, clock } = path;
  const { who } = call.ctx;
  const { conversation } = call.request;
  return recordedInput(ask, { recorder, who, conversation, now: () => clock.now() })(request, from);
}
