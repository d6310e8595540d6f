import type { Json } from '../contracts/index.ts';
import { isObject } from './blocks.ts';

/** The piece of text that a Messages API stream event brings; empty for any other event. */
export function deltaText(event: Json): string {
  if (!isObject(event) || event.type !== 'content_block_delta' || !isObject(event.delta)) return '';
  return event.delta.type === 'text_delta' && typeof event.delta.text === 'string' ? event.delta.text : '';
}
