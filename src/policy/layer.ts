import type { JsonObject } from '../contracts/index.ts';
import type { Condition } from './condition.ts';

/** The three lists of `permissions`, in the order in which they are asked. */
export type RuleKind = 'deny' | 'ask' | 'allow';

export const RULE_KINDS: readonly RuleKind[] = ['deny', 'ask', 'allow'];

/** A rule with a condition, as it is written: `docs/set-rules.md` tells what `when` may hold. */
export interface ConditionalRule {
  /** Names tools as a rule that is only a string does. */
  readonly tool: string;
  /** When the rule holds; all of it has to be so. Without it, always. */
  readonly when?: JsonObject;
  /** Shown to whoever reads why. */
  readonly reason?: string;
}

export type RuleEntry = string | ConditionalRule;

/** Rules as they are written in a file. The lists may come from JSON, so entries that are neither are reported. */
export interface Permissions {
  readonly allow?: readonly RuleEntry[];
  readonly ask?: readonly RuleEntry[];
  readonly deny?: readonly RuleEntry[];
}

/**
 * One place from which rules come. Layers only add up: a deny of any layer beats everything and an ask of any layer beats
 * every allow, so that no layer loosens what another one says.
 */
export interface PolicyLayer {
  readonly scope: 'managed' | 'user' | 'project' | 'local' | 'session';
  /** Shown in reasons: a path, or a name such as `--allow`. */
  readonly file: string;
  readonly permissions: Permissions;
  /** Line (from 1) of a rule in `file`; `index` counts within the list. */
  lineOf?(kind: RuleKind, index: number): number | undefined;
  /** A layer that isn't trusted gives deny and ask rules only. */
  readonly trusted: boolean;
}

/** A rule as compiled, with where it stands. */
export interface Rule {
  readonly kind: RuleKind;
  /** As written, with its condition. */
  readonly text: string;
  /** Absent: it holds for every call. */
  readonly when?: Condition;
  /** Its author's words. */
  readonly why?: string;
  readonly scope: PolicyLayer['scope'];
  readonly source: { readonly file: string; readonly line?: number };
}
