import type { ToolContext } from './define-tool.ts';

export interface PlannedTool<I, P, R> {
  /** For `defineTool`'s `preview`: the dry run. */
  readonly preview: (input: I, ctx: ToolContext) => Promise<P>;
  /** For `defineTool`'s handler. */
  readonly handler: (input: I, ctx: ToolContext) => Promise<R>;
}

/**
 * A tool in two halves: a plan that changes nothing, and the act that carries a plan out. The plan is the dry run that
 * whoever approves is shown, and the call plans again before it acts, so both come from the same code.
 *
 * @param plan reads, and returns what would happen as JSON data; throws `ToolFailure` for what can't be done
 * @param act gets the plan that was just made, and does exactly that
 */
export function planThenAct<I, P, R>(
  plan: (input: I, ctx: ToolContext) => P | Promise<P>,
  act: (plan: P, input: I, ctx: ToolContext) => R | Promise<R>,
): PlannedTool<I, P, R> {
  return {
    preview: async (input, ctx) => plan(input, ctx),
    handler: async (input, ctx) => act(await plan(input, ctx), input, ctx),
  };
}
