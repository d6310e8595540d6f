import type { JsonObject } from '../../contracts/index.ts';
import { MESSAGES_REQUEST_RULES } from '../rules/check-messages-request.ts';
import type { DoubleRequest, Exchange } from './exchange.ts';
import type { Refusal } from './refusal.ts';
import type { GivenBlocks } from './signatures.ts';

interface Found {
  readonly refusal: Refusal;
  readonly refusals: Exchange['refusals'];
}

/** What is wrong with a request before its messages are looked at. */
export function inspectTransport(
  request: DoubleRequest,
  body: JsonObject | null,
  key: string | undefined,
): Found | undefined {
  const bearer = /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  const sent = request.headers.get('x-api-key') ?? bearer;
  if (request.path === '/') return undefined;
  if (sent === undefined || (key !== undefined && sent !== key)) {
    return only('key', { status: 401, type: 'authentication_error', message: 'invalid x-api-key' });
  }
  if (!request.headers.has('anthropic-version')) {
    return only('version', invalid('anthropic-version: header is required'));
  }
  if (request.method === 'POST' && body === null) return only('json', invalid('The request body is not valid JSON'));
  return undefined;
}

/** What is wrong with the body of a Messages API request. */
export function inspectMessages(
  body: JsonObject,
  _context: { readonly counting: boolean; readonly given: GivenBlocks },
): Found | undefined {
  const refusals = MESSAGES_REQUEST_RULES.flatMap((rule) =>
    rule.check(body).map((message) => ({ rule: rule.id, message })),
  );
  const [first] = refusals;
  return first === undefined ? undefined : { refusal: invalid(first.message), refusals };
}

function invalid(message: string): Refusal {
  return { status: 400, type: 'invalid_request_error', message };
}

function only(rule: string, refusal: Refusal): Found {
  return { refusal, refusals: [{ rule, message: refusal.message }] };
}
