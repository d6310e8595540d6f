import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { InputOrigin, Json, JsonObject, RawJson } from '../contracts/index.ts';
import { BridleError, printable } from '../tools/index.ts';
import { promptElicitation } from './elicitation-prompt.ts';
import type { Prompter } from './prompter.ts';
import type { Sampling } from './sampling.ts';

/** What servers are told that this host answers (MCP ClientCapabilities). A server that is lent the model is told so, too. */
export const CLIENT_CAPABILITIES: JsonObject = { elicitation: { form: {}, url: {} }, roots: {} };

export interface ServerRequestsOptions {
  /** The project's folder, absolute: the one root. */
  readonly root: string;
  /** The person who can be asked. Absent: there is none, and questions are declined. */
  readonly prompter?: Prompter;
  /** Lends the model to servers. Absent: to none. */
  readonly sampling?: Pick<Sampling, 'answer'>;
  /** Told, in a sentence, of each question that was declined because nobody could be asked. */
  note(text: string): void;
}

/**
 * Answers what servers ask of the host: elicitation by the person at the terminal, one question at a time; roots with
 * the project's folder; sampling as `sampling` does, else with a refusal.
 *
 * @returns an `input` for agents and connections. Rejects with BridleError `sampling_refused`,
 *   `sampling_spent` or `server_request_unknown`
 */
export function serverRequests(
  options: ServerRequestsOptions,
): (request: RawJson, from?: InputOrigin) => Promise<Json> {
  const { root, prompter, note } = options;
  return async (raw, from) => {
    const request = raw.parse();
    const { method, params } = (typeof request === 'object' && request !== null ? request : {}) as JsonObject;
    const who = from?.server ? `Server "${printable(from.server.key)}"` : 'A server';
    switch (method) {
      case 'roots/list':
        return { roots: [{ uri: pathToFileURL(root).href, name: basename(root) }] };
      case 'elicitation/create': {
        // A question that belongs to no call can't be shown with what it is about.
        if (from && prompter) return prompter.alone(() => promptUnlessOver(params, from, prompter));
        const why = prompter ? 'it belongs to no call' : 'nobody sits at a terminal here';
        note(`${who} asked for information, which was declined: ${why}. It said: ${messageOf(params)}`);
        return { action: 'decline' };
      }
      case 'sampling/createMessage':
        if (options.sampling) return options.sampling.answer(params, from);
        throw new BridleError(
          'sampling_refused',
          `${who} asked to use this host's model (sampling), which is refused.`,
          {
            hint: 'Nothing lends the model to a server here. Use a server that answers from its own data.',
          },
        );
      default: {
        const name = printable(String(method), { maxLength: 80 });
        throw new BridleError('server_request_unknown', `${who} asked for "${name}", which is not answered here.`);
      }
    }
  };
}

async function promptUnlessOver(params: Json | undefined, from: InputOrigin, prompter: Prompter): Promise<Json> {
  if (from.signal.aborted) return { action: 'cancel' };
  return promptElicitation(params, from, prompter);
}

function messageOf(params: Json | undefined): string {
  const message = typeof params === 'object' && params !== null && !Array.isArray(params) ? params.message : undefined;
  return typeof message === 'string' ? printable(message, { maxLength: 300 }) : '(nothing)';
}
