import type { JsonObject } from '../../src/contracts/index.ts';
import { chatStream, type LoopbackServer, loopbackServer } from '../fixtures/loopback-server.ts';

/** One reply: a text, or calls with their arguments as the text that the model wrote. */
export type ChatTurn = string | readonly { readonly name: string; readonly args: string }[];

export interface ChatModel extends LoopbackServer {
  /** For `--model`. */
  readonly spec: string;
  /** What the tool answers said in the request of this turn, in order. */
  toolAnswers(turn: number): string[];
}

/**
 * A model behind chat completions that plays a script, for tests of the command line: it can be told to call exactly
 * what is to be tested. A turn may be made from the request.
 */
export async function chatModel(turns: readonly (ChatTurn | ((body: JsonObject) => ChatTurn))[]): Promise<ChatModel> {
  const server = await loopbackServer((response, { body }) => {
    const turn = turns[server.requests.length - 1];
    const reply = (typeof turn === 'function' ? turn(body) : turn) ?? 'The script is over.';
    const calls =
      typeof reply === 'string'
        ? []
        : reply.map(({ name, args }, index) => ({
            index,
            id: `call_${server.requests.length}_${index}`,
            type: 'function',
            function: { name, arguments: args },
          }));
    const delta = typeof reply === 'string' ? { content: reply } : { tool_calls: calls };
    const finish = typeof reply === 'string' ? 'stop' : 'tool_calls';
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      chatStream([
        { id: 'chatcmpl-1', model: 'scripted', choices: [{ index: 0, delta, finish_reason: null }] },
        { id: 'chatcmpl-1', model: 'scripted', choices: [{ index: 0, delta: {}, finish_reason: finish }] },
      ]),
    );
  });
  return {
    ...server,
    spec: `openai:scripted@${server.url}/v1`,
    toolAnswers(turn) {
      const body = (server.requests[turn]?.body ?? {}) as { messages?: { role: string; content: unknown }[] };
      return (body.messages ?? []).filter(({ role }) => role === 'tool').map(({ content }) => String(content));
    },
  };
}
