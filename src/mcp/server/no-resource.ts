import type { Server } from '@modelcontextprotocol/server';
import { isObject } from './is-object.ts';
import { INVALID_PARAMS, NO_RESOURCE } from './rpc-error.ts';

type Id = string | number;

/**
 * The SDK writes the code of the newest revision for a resource that isn't there; clients of the older ones look for
 * theirs (MCP 2025-11-25, Resources, Error Handling).
 *
 * @param server before it is connected
 * @returns tells of a request that is about to be answered so
 */
export function keepNoResource(server: Server): (id: Id) => void {
  const ids = new Set<Id>();
  const connect = server.connect.bind(server);
  server.connect = (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const answer: unknown = message;
      if (!isObject(answer) || !isObject(answer.error) || answer.error.code !== INVALID_PARAMS)
        return send(message, options);
      if (!ids.delete(answer.id as Id)) return send(message, options);
      return send({ ...answer, error: { ...answer.error, code: NO_RESOURCE } } as typeof message, options);
    };
    return connect(transport);
  };
  return (id) => void ids.add(id);
}
