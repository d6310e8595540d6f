import type { Json, JsonObject } from '../contracts/index.ts';
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
    properties: {
      question: { type: 'string', description: 'The whole question, as the user will read it.' },
      options: {
        type: 'array',
        items: { type: 'string' },
        description: 'Answers to choose from, if there are only a few. The user may answer otherwise.',
      },
    },
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

/** Most options that are shown. */
const MOST_OPTIONS = 20;

/** What a call of it asks; null when it has no words. */
export function askedOf(input: JsonObject): { readonly question: string; readonly options: readonly string[] } | null {
  const question = typeof input.question === 'string' ? input.question.trim() : '';
  if (question === '') return null;
  const given = Array.isArray(input.options) ? input.options : [];
  const options = given.filter((option) => typeof option === 'string' && option.trim() !== '').map(String);
  return { question, options: options.slice(0, MOST_OPTIONS) };
}
