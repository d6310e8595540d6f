import type { JsonObject, ToolDefinition } from '../../contracts/index.ts';
import { CODES } from '../wire/index.ts';
import { type Answer, contentAnswers } from './content-answers.ts';
import type { KeptText } from './kept-text.ts';
import { pagesOf } from './list-pages.ts';
import { ListTexts } from './list-text.ts';
import { note } from './notes.ts';
import type { Exchange } from './peer.ts';
import { INTERNAL, RpcError } from './rpc.ts';
import type { Service } from './service.ts';
import { taskAnswers } from './task-answers.ts';
import { callAsTask } from './task-call.ts';
import type { Tasks } from './tasks.ts';
import { callTool } from './tool-call.ts';

/** Answers the requests that both eras have. */
export interface Answers {
  /**
   * @returns JSON text of the result, or the error; nothing else comes out of it
   * @throws never
   */
  answer(method: string, params: JsonObject, exchange: Exchange): Promise<string | KeptText | RpcError>;
}

export function answersFor(service: Service, tasks: Tasks): Answers {
  const { host } = service;
  const lists = new ListTexts(service.infoText);
  const pageOf = pagesOf<ToolDefinition>(host, 'tools/list', ({ ref }) => ref.name);
  const table = new Map<string, Answer>([
    [
      'tools/list',
      ({ cursor }, { peer }) => {
        const page = pageOf(peer.who, host.list(peer.who), cursor);
        host.listed?.(peer.who, page.items);
        return lists.tools(page, peer.era);
      },
    ],
    [
      'tools/call',
      (params, exchange) => callAsTask(service, tasks, params, exchange) ?? callTool(service, params, exchange),
    ],
    ...taskAnswers(service, tasks),
    ...(host.content ? contentAnswers(service, host.content, lists) : []),
  ]);
  return {
    async answer(method, params, exchange) {
      const answer = table.get(method);
      if (!answer) return new RpcError(CODES.unknownMethod, 'Method not found');
      try {
        return await answer(params, exchange);
      } catch (error) {
        return rpcErrorOf(method, error);
      }
    },
  };
}

/** What a client is told of a fault; the person who runs the server is told what it was. */
export function rpcErrorOf(method: string, error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  note(`${method} failed: ${error instanceof Error ? error.message : String(error)}`);
  return INTERNAL;
}
