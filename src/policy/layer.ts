/** The three lists of `permissions`, in the order in which they are asked. */
export type RuleKind = 'deny' | 'ask' | 'allow';

export const RULE_KINDS: readonly RuleKind[] = ['deny', 'ask', 'allow'];

/** Rules as they are written in a file. The lists may come from JSON, so entries that aren't strings are reported. */
export interface Permissions {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

/**
 * One place from which rules come. Layers only add up: there is no order among them, because a deny of any layer beats
 * everything and an ask of any layer beats every allow.
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
  readonly text: string;
  readonly scope: PolicyLayer['scope'];
  readonly source: { readonly file: string; readonly line?: number };
}
