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
    this.progress = (done, total, message) => {
      const raw = rawFrom({ progress: done, ...(total !== undefined && { total }), ...(message && { message }) });
      ctx.onEvent?.({ kind: 'progress', raw });
    };
    this.log = (data, level = 'info') => {
      ctx.onEvent?.({ kind: 'log', raw: rawFrom({ level, data: toJson(data ?? null) }) });
    };
    this.disconnect = () => ctx.disconnect?.();
  }
}
