import type { Lent } from '../host/index.ts';
import { counted } from './counted.ts';

/** What servers had of the model, beside what the agent had; undefined when they had nothing. */
export function lentLine({ requests, inputTokens, outputTokens }: Lent): string | undefined {
  if (requests === 0) return undefined;
  return `lent to servers: ${counted(requests, 'request')}, ${inputTokens} tokens in, ${outputTokens} out`;
}
