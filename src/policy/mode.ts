import type { ToolDefinition } from '../contracts/index.ts';

/** The permission modes, under the names that people know from other hosts. */
export const MODES = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'] as const;
export type Mode = (typeof MODES)[number];

/** What a mode says to a call that no deny rule stopped. `undefined`: nothing, so the allow rules are asked. */
export type ModeAnswer = { readonly effect: 'allow' | 'deny'; readonly text: string } | undefined;

/**
 * @param askRule whether an ask rule names the tool: a mode may then tighten, never loosen
 */
type ModeRule = (tool: ToolDefinition, askRule: boolean) => ModeAnswer;

const MODE_RULES: Readonly<Record<Mode, ModeRule>> = {
  default: () => undefined,
  acceptEdits: () => undefined,
  plan: (tool) =>
    tool.effect === 'read'
      ? undefined
      : { effect: 'deny', text: 'In plan mode only tools that are known to read run; this one may change something.' },
  dontAsk: () => undefined,
  bypassPermissions: (_tool, askRule) =>
    askRule ? undefined : { effect: 'allow', text: 'Mode bypassPermissions allows what no deny or ask rule names.' },
};

export function modeAnswer(mode: Mode, tool: ToolDefinition, askRule: boolean): ModeAnswer {
  return MODE_RULES[mode](tool, askRule);
}

export function isMode(text: string): text is Mode {
  return (MODES as readonly string[]).includes(text);
}
