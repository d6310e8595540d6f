import type { Executed, RawJson } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';

/** A JSON-RPC error as the peer gave it. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: RawJson;
}

/**
 * Why a request to a server came to nothing. `executed` says what is known of its effect: `not_executed` when the
 * request was never written or was refused, `unknown` once it was on its way.
 */
export class McpError extends BridleError {
  readonly executed: Executed;
  /** There when the server itself answered with an error. */
  readonly rpc?: RpcError;
  /** The HTTP status, where the server answered with one that says more than the rest. */
  readonly status?: number;
  /** True when the same request may succeed later without anybody changing anything. */
  readonly passing: boolean;

  constructor(
    code: string,
    message: string,
    options: {
      readonly executed: Executed;
      readonly passing?: boolean;
      readonly rpc?: RpcError;
      readonly status?: number;
      readonly hint?: string;
      readonly cause?: unknown;
    },
  ) {
    super(code, message, options);
    this.executed = options.executed;
    this.passing = options.passing ?? false;
    if (options.rpc) this.rpc = options.rpc;
    if (options.status !== undefined) this.status = options.status;
  }
}

/** The same error for a request of which something else is known. */
export function withExecuted(error: McpError, executed: Executed): McpError {
  return new McpError(error.code, error.message, {
    executed,
    passing: error.passing,
    ...(error.rpc && { rpc: error.rpc }),
    ...(error.status !== undefined && { status: error.status }),
    ...(error.hint !== undefined && { hint: error.hint }),
    ...(error.cause !== undefined && { cause: error.cause }),
  });
}

/** What went wrong in words, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
