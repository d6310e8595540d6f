import type { CallContext, Identity } from '../contracts/index.ts';
import type { Questions } from './asking.ts';
import type { ToolContext } from './define-tool.ts';
import { toJson } from './json-object.ts';
import { rawFrom } from './raw-json.ts';
import { SignalOnDemand } from './signal-on-demand.ts';

/** The handler's view of a call. All members are its own, as handlers take them out and copy them. */
export class HandlerContext extends SignalOnDemand implements ToolContext {
  readonly callId: string;
  readonly who: Identity;
  readonly ask: Questions['ask'];
  readonly visit: Questions['visit'];
  readonly sample: Questions['sample'];
  readonly roots: Questions['roots'];
  readonly canAsk: Questions['canAsk'];
  readonly progress: ToolContext['progress'];
  readonly log: ToolContext['log'];
  readonly disconnect: ToolContext['disconnect'];

  constructor(ctx: CallContext, { ask, visit, sample, roots, canAsk }: Questions) {
    super(ctx);
    this.callId = ctx.callId;
    this.who = ctx.who;
    this.ask = ask;
    this.visit = visit;
    this.sample = sample;
    this.roots = roots;
    this.canAsk = canAsk;
    // V8 puts a function that is written where a property is set among what lives long, and all that hangs on it stays until
    // the next full collection. So these stand for themselves first.
    const progress: ToolContext['progress'] = (done, total, message) => {
      const raw = rawFrom({ progress: done, ...(total !== undefined && { total }), ...(message && { message }) });
      ctx.onEvent?.({ kind: 'progress', raw });
    };
    const log: ToolContext['log'] = (data, level = 'info') => {
      ctx.onEvent?.({ kind: 'log', raw: rawFrom({ level, data: toJson(data ?? null) }) });
    };
    const disconnect = () => ctx.disconnect?.();
    this.progress = progress;
    this.log = log;
    this.disconnect = disconnect;
  }
}
