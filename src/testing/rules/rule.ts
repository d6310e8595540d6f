import type { JsonObject } from '../../contracts/index.ts';

/**
 * What says that the API refuses this, the strongest first:
 * - `sdk`: a type or an error class of the official SDK
 * - `docs`: a page of the API's documentation
 * - `report`: an answer of the API that somebody published
 * - `assumed`: nothing but what the others make likely
 */
export interface RuleSource {
  readonly kind: 'sdk' | 'docs' | 'report' | 'assumed';
  /** The type, the page, or who reported it. */
  readonly where: string;
}

/** What is known of a rule, wherever it is checked. */
export interface RuleFacts {
  /** Stable, kebab-case. */
  readonly id: string;
  /** What is refused, as the end of a sentence: "a request is refused …". */
  readonly refuses: string;
  readonly source: RuleSource;
  /** Default 400. */
  readonly status?: number;
  /** `error.type`; default `invalid_request_error`. */
  readonly errorType?: string;
  /** `error.details.error_code`, where the API gives one. */
  readonly errorCode?: string;
}

/** One thing that the Messages API refuses, as far as a request's body tells. */
export interface Rule extends RuleFacts {
  /** @returns what is wrong, each with where it stands; empty for a request that keeps the rule */
  check(body: JsonObject): readonly string[];
  /** The least that breaks the rule, and no other. */
  readonly breach: JsonObject;
  /** The same request as it is right. */
  readonly keeps: JsonObject;
}

export const sdk = (where: string): RuleSource => ({ kind: 'sdk', where });
export const docs = (where: string): RuleSource => ({ kind: 'docs', where });
export const report = (where: string): RuleSource => ({ kind: 'report', where });
export const assumed = (where: string): RuleSource => ({ kind: 'assumed', where });
