import type { JsonObject } from '../../contracts/index.ts';
import { modelFacts } from '../../models/index.ts';

/** Models that the double names when it is asked for its models; any other name is taken as well. */
const LISTED: readonly string[] = [
  'claude-fable-5-1',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'claude-haiku-5-5',
  'claude-opus-5',
  'claude-sonnet-5',
  'claude-opus-4-8',
  'claude-sonnet-4-6',
  'claude-haiku-4-5',
];

/** `GET /v1/models`, on one page. */
export function modelList(): JsonObject {
  return {
    data: LISTED.map(infoOf),
    has_more: false,
    first_id: LISTED[0] ?? null,
    last_id: LISTED.at(-1) ?? null,
  };
}

/** `GET /v1/models/ID`. */
export function modelNamed(id: string): JsonObject | undefined {
  return /^claude-/.test(id) ? infoOf(id) : undefined;
}

function infoOf(id: string): JsonObject {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: '1970-01-01T00:00:00Z',
    max_tokens: modelFacts(id)?.maxOutput ?? null,
  };
}
