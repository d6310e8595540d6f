/** Who is calling. An argument on every call: never ambient, never taken from the model. */
export interface Identity {
  readonly agent: string;
  readonly user?: string;
  readonly via: 'library' | 'terminal' | 'gateway';
  readonly scopes?: readonly string[];
}

/**
 * Who a server is, from where it is configured; never what it says of itself.
 * `fingerprint` is the SHA-256 (hex) of command and arguments, or of the URL's origin and path.
 */
export interface ServerRef {
  readonly key: string;
  readonly scope: 'managed' | 'local' | 'project' | 'user' | 'plugin' | 'code';
  readonly fingerprint: string;
  readonly trustAnnotations: boolean;
}
