import type { Reason } from '../../contracts/index.ts';

export function pinReason(code: string, text: string): Reason {
  return { room: 'policy', code, text };
}
