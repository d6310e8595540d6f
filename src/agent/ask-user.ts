import type { Json } from '../contracts/index.ts';
import type { LoopTool } from './state.ts';

/** The name under which a model finds it. */
export const ASK_USER = 'ask_user';

const ENTRY: Json = {
  name: ASK_USER,
  description:
    'Puts a question to the user and ends your turn; the answer comes as the next user message. Use it when a value ' +
    'that you need is known neither from the conversation nor from a tool, or when the user has to choose. Do not use ' +
    'it to get a call approved: that is asked for where it is needed.',
  input_schema: {
    type: 'object',
    properties: { question: { type: 'string', description: 'The whole question, as the user will read it.' } },
    required: ['question'],
    additionalProperties: false,
  },
};

/**
 * The tool with which a language model says that its turn ends with a question. An `end_turn` doesn't tell a question
 * from an answer, and text is never parsed for it. A call of it runs nothing: it is a signal to the loop.
 */
export function askUserTool(): LoopTool {
  return { name: ASK_USER, entry: ENTRY, effect: 'write' };
}
