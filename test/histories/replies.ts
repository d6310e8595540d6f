import { isProviders } from '../../src/agent/blocks.ts';
import type { Json, JsonObject, LoopEvent } from '../../src/contracts/index.ts';
import type { Action, BlockPlan } from './generate.ts';

type Next = Extract<Action, { readonly do: 'next' }>;

/** Plays the model and its provider over one history: gives ids, and keeps what it signed. */
export class Provider {
  /** Every thinking block that was given, as JSON. */
  readonly signed = new Set<string>();
  #count = 0;
  readonly #names = new Map<string, string>();
  readonly #runsCode: boolean;

  constructor(runsCode: boolean) {
    this.#runsCode = runsCode;
  }

  /** @param unfinished ids of the provider's calls that have no result yet */
  reply(plan: Next, unfinished: readonly string[], at: number): LoopEvent {
    const open = [...unfinished];
    const waiting = new Set<string>();
    const content = plan.blocks.flatMap((block) => this.#block(block, open, waiting));
    const has = (test: (block: Json) => boolean) => content.some(test);
    const fit = has((block) => (block as JsonObject | null)?.type === 'tool_use')
      ? 'tool_use'
      : has(isProviders)
        ? 'pause_turn'
        : 'end_turn';
    const message = {
      role: 'assistant',
      content,
      ...(plan.asked && { bridle: { asked: true } }),
      ...(plan.container && { container: { id: `container_${this.#count}`, expires_at: null } }),
    };
    return modelEvent(message, plan.stop === 'fit' ? fit : plan.stop, at);
  }

  #block(plan: BlockPlan, open: string[], waiting: Set<string>): Json[] {
    switch (plan.kind) {
      case 'plain':
        return [plan.block];
      case 'call':
        return [{ type: 'tool_use', id: plan.id, name: plan.name, input: plan.input, ...plan.extra }];
      case 'member':
        return [{ type: 'tool_use', id: plan.id, name: plan.name, input: {}, toolset_name: 'computer' }];
      case 'thinking':
        return [this.#thinking()];
      case 'server':
        return [this.#call(plan.name, open)];
      case 'server_result':
        return this.#result(plan.which, open, waiting);
      case 'code_call':
        return [this.#codeCall(plan.id, plan.which, open, waiting)];
      default:
        return unreachable(plan);
    }
  }

  #thinking(): Json {
    this.#count += 1;
    const block = { type: 'thinking', thinking: 'hm', signature: `s${this.#count}` };
    this.signed.add(JSON.stringify(block));
    return block;
  }

  #call(wanted: string, open: string[]): Json {
    this.#count += 1;
    const id = `srvtoolu_${this.#count}`;
    const name = this.#runsCode ? wanted : 'web_search';
    this.#names.set(id, name);
    open.push(id);
    return { type: 'server_tool_use', id, name, input: {} };
  }

  #result(which: number, open: string[], waiting: ReadonlySet<string>): Json[] {
    // Code that waits for a call of this reply can't have ended in it.
    const over = open.filter((id) => !waiting.has(id));
    const id = over[which % Math.max(1, over.length)];
    if (id === undefined) return [];
    open.splice(open.indexOf(id), 1);
    const name = this.#names.get(id) ?? 'code_execution';
    return [{ type: `${name}_tool_result`, tool_use_id: id, content: [] }];
  }

  /** By code that waits, where there is some; rarely by code that stands nowhere. */
  #codeCall(id: string, which: number, open: readonly string[], waiting: Set<string>): Json {
    const call = { type: 'tool_use', id, name: 'read', input: {} };
    if (!this.#runsCode) return call;
    const code = open.filter((each) => this.#names.get(each) !== 'web_search');
    const caller = code[which % Math.max(1, code.length)] ?? (which === 0 ? 'srvtoolu_elsewhere' : undefined);
    if (caller !== undefined) waiting.add(caller);
    return caller === undefined ? call : { ...call, caller: { type: 'code_execution_20260120', tool_id: caller } };
  }
}

/** A reply of the model as the loop hears it. */
export function modelEvent(message: Json, stopReason: string, at: number): LoopEvent {
  return { v: 1, at, type: 'model', message, stopReason, usage: { input_tokens: 5, output_tokens: 5 } };
}

function unreachable(plan: never): never {
  throw new Error(`Unhandled: ${JSON.stringify(plan)}`);
}
