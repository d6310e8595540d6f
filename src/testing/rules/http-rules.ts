import { assumed, docs, type RuleFacts, report, sdk } from './rule.ts';

/** A request before anything of its body is looked at. */
export interface HttpFacts {
  readonly method: string;
  readonly path: string;
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>;
  /** `undefined`: no JSON; else what it is. */
  readonly json: unknown;
  /** Bytes. */
  readonly size: number;
  /** The only key that is taken, where there is one. */
  readonly key: string | undefined;
}

/** One thing that the API refuses whatever the body asks for. */
export interface HttpRule extends RuleFacts {
  check(request: HttpFacts): readonly string[];
  /** What breaks it: headers in place of the usual ones (`null`: left out), and a body in place of a right one. */
  readonly breach: { readonly headers?: Readonly<Record<string, string | null>>; readonly body?: string };
}

const API_VERSIONS: readonly string[] = ['2023-06-01', '2026-10-21'];
/** The most that a request may hold, in bytes. */
export const MOST_BYTES = 32 * 1024 * 1024;
/** What the SDK sends as headers. In a body the API doesn't know them. */
const HEADERS_ONLY = ['betas', 'user_profile_id', 'workspace_id'];

function sentKey({ headers }: HttpFacts): string | undefined {
  return headers.get('x-api-key') ?? /^Bearer (.+)$/i.exec(headers.get('authorization') ?? '')?.[1];
}

function bodyOf({ json }: HttpFacts): Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Record<string, unknown>) : {};
}

const takesBody = ({ method, path }: HttpFacts): boolean => method === 'POST' && path.startsWith('/v1/messages');

export const MESSAGES_HTTP_RULES: readonly HttpRule[] = [
  {
    id: 'key-given',
    refuses: 'without a key, in x-api-key or as a bearer',
    source: report('the API words it "x-api-key header is required"'),
    status: 401,
    errorType: 'authentication_error',
    check: (request) => (sentKey(request) === undefined ? ['x-api-key header is required'] : []),
    breach: { headers: { 'x-api-key': null, authorization: null } },
  },
  {
    id: 'key-right',
    refuses: 'with another key than the one that is taken',
    source: report('the API words it "invalid x-api-key"'),
    status: 401,
    errorType: 'authentication_error',
    check: (request) =>
      request.key !== undefined && sentKey(request) !== undefined && sentKey(request) !== request.key
        ? [request.headers.has('x-api-key') ? 'invalid x-api-key' : 'Invalid bearer token']
        : [],
    breach: { headers: { 'x-api-key': 'wrong', authorization: null } },
  },
  {
    id: 'version-given',
    refuses: 'without anthropic-version',
    source: report('the API words it "anthropic-version: header is required"'),
    check: ({ headers }) => (headers.has('anthropic-version') ? [] : ['anthropic-version: header is required']),
    breach: { headers: { 'anthropic-version': null } },
  },
  {
    id: 'version-known',
    refuses: 'with a version of the API that there is not',
    source: sdk('the SDK sends 2026-10-21, and sent 2023-06-01 before'),
    check({ headers }) {
      const version = headers.get('anthropic-version');
      return version === undefined || API_VERSIONS.includes(version)
        ? []
        : [`anthropic-version: "${version}" is not a valid version`];
    },
    breach: { headers: { 'anthropic-version': '2020-02-30' } },
  },
  {
    id: 'size',
    refuses: 'of more than 32 MB',
    source: docs('Errors: request size limits'),
    status: 413,
    errorType: 'request_too_large',
    check: ({ size }) => (size > MOST_BYTES ? ['Request exceeds the maximum size'] : []),
    // Made when somebody looks, because it is large.
    get breach() {
      return { body: `"${'x'.repeat(MOST_BYTES)}"` };
    },
  },
  {
    id: 'json',
    refuses: 'whose body is no JSON object',
    source: report('the API words it "The request body is not valid JSON: …"'),
    check: (request) => {
      if (!takesBody(request)) return [];
      if (request.json === undefined) return ['The request body is not valid JSON'];
      return bodyOf(request) === request.json ? [] : ['Input should be an object'];
    },
    breach: { body: '{"model": ' },
  },
  {
    id: 'model-given',
    refuses: 'without a model',
    source: sdk('MessageCreateParams.model'),
    check: (request) => {
      const { model } = bodyOf(request);
      return !takesBody(request) || typeof model === 'string' ? [] : ['model: Field required'];
    },
    breach: { body: '{"max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}' },
  },
  {
    id: 'model-known',
    refuses: 'for a model that there is not',
    source: report('the API words it "model: NAME", with HTTP 404'),
    status: 404,
    errorType: 'not_found_error',
    check: (request) => {
      const { model } = bodyOf(request);
      return takesBody(request) && typeof model === 'string' && model.trim() === '' ? [`model: ${model}`] : [];
    },
    breach: { body: '{"model": " ", "max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}]}' },
  },
  {
    id: 'max-tokens-given',
    refuses: 'for a reply without max_tokens',
    source: sdk('MessageCreateParams.max_tokens'),
    check: (request) =>
      request.path === '/v1/messages' && takesBody(request) && bodyOf(request).max_tokens === undefined
        ? ['max_tokens: Field required']
        : [],
    breach: { body: '{"model": "claude-haiku-4-5", "messages": [{"role": "user", "content": "Hi"}]}' },
  },
  {
    id: 'headers-not-in-body',
    refuses: 'with betas or another header of the SDK in its body',
    source: assumed('the SDK takes them out of the body before it sends it'),
    check: (request) =>
      HEADERS_ONLY.filter((field) => takesBody(request) && bodyOf(request)[field] !== undefined).map(
        (field) => `${field}: Extra inputs are not permitted`,
      ),
    breach: {
      body: '{"model": "claude-haiku-4-5", "max_tokens": 1, "betas": [], "messages": [{"role": "user", "content": "Hi"}]}',
    },
  },
];
