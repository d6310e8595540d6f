import type { JsonObject } from '../../contracts/index.ts';

export const INVALID_PARAMS = -32602;
export const METHOD_NOT_FOUND = -32601;
export const INTERNAL_ERROR = -32603;
/** 2026-07-28: the client didn't declare a capability that the answer needs. */
export const MISSING_CAPABILITY = -32021;
/** Up to 2025-11-25: there is no such resource; later revisions say `INVALID_PARAMS`. */
export const NO_RESOURCE = -32002;

/** The SDK answers an error with an integer `code` as that JSON-RPC error. */
export class RpcError extends Error {
  readonly code: number;
  readonly data?: JsonObject;
  constructor(code: number, message: string, data?: JsonObject) {
    super(message);
    this.code = code;
    if (data !== undefined) this.data = data;
  }
}
