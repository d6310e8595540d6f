import type { Json } from '../contracts/index.ts';
import { BridleError } from '../tools/index.ts';
import type { Agent, Conversation } from './agent-options.ts';
import type { Container } from './container.ts';

/** Several runs, one after another, each going on from the last. */
export function conversationOf(run: Agent['run'], id: string, start: readonly Json[]): Conversation {
  let messages = start;
  let container: Container | undefined;
  let isBusy = false;
  return {
    id,
    get messages() {
      return messages;
    },
    run(input, options = {}) {
      if (isBusy) {
        throw new BridleError('conversation_busy', 'The run before this one goes on in the same conversation.', {
          hint: 'Await its result first, or abort it.',
        });
      }
      isBusy = true;
      const started = run(input, { ...options, messages, conversation: id, ...(container && { container }) });
      void started.result.then((result) => {
        messages = result.messages;
        container = result.container ?? container;
        isBusy = false;
      });
      return started;
    },
  };
}
