import type { JsonObject } from '../../contracts/index.ts';
import type { DoubleAnswer } from './exchange.ts';

/** An answer that is an error, as the API words and dresses it. */
export interface Refusal {
  readonly status: number;
  /** `error.type` */
  readonly type: string;
  readonly message: string;
  /** `error.details`, e.g. `{error_code: 'thread_not_found'}`. */
  readonly details?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
}

export function refusalBody({ type, message, details }: Refusal, requestId: string): JsonObject {
  return {
    type: 'error',
    error: { type, message, ...(details !== undefined && { details }) },
    request_id: requestId,
  };
}

/** The SDKs retry what isn't marked otherwise, so each answer says whether to. */
export function refusalAnswer(refusal: Refusal, requestId: string): DoubleAnswer {
  const again = refusal.status === 408 || refusal.status === 409 || refusal.status === 429 || refusal.status >= 500;
  return {
    status: refusal.status,
    headers: {
      'content-type': 'application/json',
      'request-id': requestId,
      'x-should-retry': String(again),
      ...refusal.headers,
    },
    body: JSON.stringify(refusalBody(refusal, requestId)),
  };
}

export const notFound = (message: string): Refusal => ({ status: 404, type: 'not_found_error', message });
