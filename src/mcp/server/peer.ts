import type { Identity } from '../../contracts/index.ts';

/** The official SDK, loaded when something is served. */
export type Sdk = typeof import('@modelcontextprotocol/server');

/** Who is at the other end of one connection, and how it speaks. */
export interface Peer {
  readonly who: Identity;
  readonly conversation: string;
  readonly era: 'legacy' | 'modern';
  /** Told of the JSON-RPC error with which a request is about to be answered. */
  onRpcError?(code: number): void;
}

/** The caller of a server that asks nobody who they are. */
export const ANYONE: Identity = { agent: 'mcp-client', via: 'library' };
