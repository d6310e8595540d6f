import type { Reason } from '../contracts/index.ts';
import { visibleText } from './visible-text.ts';

/** A reason of this room. Names from files stand in it, so unseen characters are made visible. */
export function hostReason(code: string, text: string, source?: Reason['source']): Reason {
  return { room: 'host', code, text: visibleText(text), ...(source && { source }) };
}
