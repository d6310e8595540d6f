import type { Asker, AskReply } from '../contracts/index.ts';
import { questionText } from './question-text.ts';

/** One answer of a script: used for the first question about `tool`, once. */
export interface ScriptedAnswer {
  /** The tool as its server spells it. */
  readonly tool: string;
  readonly answer: 'allow' | 'deny';
  /** Told to the agent after a deny; printed in any case. */
  readonly reason?: string;
}

/**
 * Answers from a script, and prints each question and what it answered. A question that the script doesn't know is a
 * no.
 */
export function scriptedAsker(script: readonly ScriptedAnswer[], output: { write(text: string): unknown }): Asker {
  const left = [...script];
  return {
    async ask(question) {
      const by = 'script';
      if (question.signal.aborted) return { answer: 'deny', by, reason: 'The call was cancelled.' };
      const at = left.findIndex(({ tool }) => tool === question.tool.ref.tool);
      const [found] = at < 0 ? [] : left.splice(at, 1);
      const reason = found ? found.reason : 'The script has no answer for this tool.';
      const reply: AskReply =
        found?.answer === 'allow' ? { answer: 'allow', by } : { answer: 'deny', by, ...(reason && { reason }) };
      const word = reply.answer === 'allow' ? 'yes' : 'no';
      output.write(`\n${questionText(question)}The script answers: ${word}${reason ? ` (${reason})` : ''}\n`);
      return reply;
    },
  };
}
