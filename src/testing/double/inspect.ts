import type { JsonObject } from '../../contracts/index.ts';
import { breachesIn } from '../rules/check-messages-request.ts';
import { type HttpFacts, MESSAGES_HTTP_RULES } from '../rules/http-rules.ts';
import { type Memory, MESSAGES_MEMORY_RULES } from '../rules/memory-rules.ts';
import type { RuleFacts } from '../rules/rule.ts';
import { inOnePass } from '../rules/shape.ts';
import type { Exchange } from './exchange.ts';
import type { Refusal } from './refusal.ts';

interface Breach {
  readonly rule: RuleFacts;
  readonly message: string;
}

/** What the API would say, and all that there is to say. */
export interface Found {
  readonly refusal: Refusal;
  readonly refusals: Exchange['refusals'];
}

/** What is wrong with a request before its messages are looked at. */
export function inspectTransport(request: HttpFacts): Found | undefined {
  return foundIn(
    MESSAGES_HTTP_RULES.flatMap((rule) => rule.check(request).map((message): Breach => ({ rule, message }))),
  );
}

/** What is wrong with the body of a Messages API request, `betas` in it. */
export function inspectMessages(body: JsonObject, memory: Memory): Found | undefined {
  const broken: readonly Breach[] = breachesIn(body);
  // What was given out is compared only where the request is sound in itself.
  if (broken.length > 0) return foundIn(broken);
  return foundIn(
    inOnePass(body, () =>
      MESSAGES_MEMORY_RULES.flatMap((rule) => rule.check(body, memory).map((message): Breach => ({ rule, message }))),
    ),
  );
}

/** The API tells of the first thing that it finds. */
function foundIn(breaches: readonly Breach[]): Found | undefined {
  const [first] = breaches;
  if (first === undefined) return undefined;
  const { id, status = 400, errorType = 'invalid_request_error', errorCode } = first.rule;
  return {
    refusal: {
      status,
      type: errorType,
      message: first.message,
      ...(errorCode !== undefined && { details: { error_code: errorCode } }),
      headers: { 'x-bridle-rule': id },
    },
    refusals: breaches.map(({ rule, message }) => ({ rule: rule.id, message })),
  };
}
