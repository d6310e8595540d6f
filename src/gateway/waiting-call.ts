import type { CallContext, InputKind, Json, JsonObject, RawJson, SourceResult } from '../contracts/index.ts';
import { isJsonObject } from '../tools/index.ts';

/** What becomes known next of a call that may ask: its result, or what it asks for, by the key of each request. */
export type Turn = { readonly result: SourceResult } | { readonly asked: JsonObject };

interface Question {
  readonly request: Json;
  resolve(answer: Json): void;
  reject(error: Error): void;
}

type OnEvent = CallContext['onEvent'];

/**
 * A call of a server of the older revisions, which asks in the middle of it. It goes on while nobody listens: whoever made
 * it is told what it asks, leaves, and comes back with the answers.
 */
export class WaitingCall {
  readonly #stop = new AbortController();
  readonly #questions = new Map<string, Question>();
  readonly #result: Promise<Turn>;
  #nth = 0;
  #asked: (() => void) | undefined;
  /** Of the leg that listens at the moment. */
  #onEvent: OnEvent;

  /** @param call hands the call to its server */
  constructor(ctx: CallContext, call: (ctx: CallContext) => Promise<SourceResult>) {
    const kinds = ctx.canAnswer ?? [];
    const { onEvent } = ctx;
    this.#onEvent = onEvent && ((event) => onEvent.call(ctx, event));
    this.#result = call({
      ...ctx,
      signal: this.#stop.signal,
      onEvent: (event) => this.#onEvent?.(event),
      input: (request) => this.#ask(request, kinds),
    }).then((result) => ({ result }));
    // Nobody may be there to hear of it when it fails.
    this.#result.catch(() => {});
  }

  /** Lets the call go on with answers, by the keys under which it asked; what has none is asked again. */
  answer(responses: Json, { onEvent }: Pick<CallContext, 'onEvent'>): void {
    this.#onEvent = onEvent;
    for (const [key, answer] of isJsonObject(responses) ? Object.entries(responses) : []) {
      const question = this.#questions.get(key);
      this.#questions.delete(key);
      question?.resolve(answer);
    }
  }

  /** Waits for what comes next. A result comes before a question that nobody waits for any more. */
  async turn(): Promise<Turn> {
    const asked = new Promise<Turn>((resolve) => {
      this.#asked = () => {
        const requests = [...this.#questions].map(([key, { request }]) => [key, request]);
        resolve({ asked: Object.fromEntries(requests) });
      };
    });
    if (this.#questions.size > 0) this.#asked?.();
    const turn = await Promise.race([this.#result, asked]);
    this.#asked = undefined;
    return turn;
  }

  /** Nobody comes back: the server is told that the call is over, and gets no answer to what it asked. */
  stop(): void {
    this.#stop.abort();
    for (const { reject } of this.#questions.values()) reject(new Error('nobody came back with an answer'));
    this.#questions.clear();
  }

  #ask(request: RawJson, kinds: readonly InputKind[]): Promise<Json> {
    const asked = request.parse();
    if (this.#stop.signal.aborted) return Promise.reject(new Error('the call is over'));
    // What its client never said that it answers gets the refusal that a client of the server's own would give.
    if (!kinds.includes(kindOf(asked))) return Promise.reject(new Error('the client answers no such request'));
    this.#nth += 1;
    const key = `ask-${this.#nth}`;
    return new Promise((resolve, reject) => {
      this.#questions.set(key, { request: withoutEnvelope(asked), resolve, reject });
      this.#asked?.();
    });
  }
}

function kindOf(request: Json): InputKind {
  const { method, params } = isJsonObject(request) ? request : {};
  if (method === 'sampling/createMessage') return 'sampling';
  if (method === 'roots/list') return 'roots';
  return isJsonObject(params) && params.mode === 'url' ? 'url' : 'form';
}

/** Without what only the older revisions have: the id, which is of the hop to the server, and the name of a visit. */
function withoutEnvelope(request: Json): Json {
  if (!isJsonObject(request)) return request;
  const { method = null, params } = request;
  if (!isJsonObject(params) || params.mode !== 'url') return { method, ...(params !== undefined && { params }) };
  const { elicitationId: _, ...visit } = params;
  return { method, params: visit };
}
