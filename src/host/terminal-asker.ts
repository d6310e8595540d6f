import type { Asker, AskQuestion, AskReply } from '../contracts/index.ts';
import { type LineStream, lineInput } from './line-input.ts';
import { questionText } from './question-text.ts';

export interface TerminalAskerOptions {
  readonly input: LineStream;
  /** stderr: stdout belongs to the answer. */
  readonly output: { write(text: string): unknown };
  /** Recorded as the one who answered. Default `terminal`. */
  readonly by?: string;
}

const TRIES = 3;
const PROMPT = 'Run it? y: yes, once. n: no; words after it are told to the agent. [y/n] ';

/**
 * Puts questions to the person at the terminal, one at a time. The end of the input, an abort (Ctrl-C) and three
 * answers that are neither yes nor no are a no.
 */
export function terminalAsker({ input, output, by = 'terminal' }: TerminalAskerOptions): Asker {
  const lines = lineInput(input);
  const put = async (question: AskQuestion): Promise<AskReply> => {
    if (question.signal.aborted) return cancelled(by);
    output.write(`\n${questionText(question)}`);
    for (let tries = 0; tries < TRIES; tries++) {
      output.write(PROMPT);
      const line = await lines.next(question.signal);
      if (line === undefined) output.write('\n');
      if (question.signal.aborted) return cancelled(by);
      if (line === undefined)
        return { answer: 'deny', by, reason: 'The input ended before the question was answered.' };
      const reply = replyOf(line, by);
      if (reply) return reply;
    }
    return { answer: 'deny', by, reason: 'The question was not answered with yes or no.' };
  };
  return oneAtATime(put, by);
}

function replyOf(line: string, by: string): AskReply | undefined {
  const [, word = '', rest = ''] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(line) ?? [];
  // Words after a yes could be a condition, which nothing here would keep.
  if (/^y(es)?$/i.test(word)) return rest === '' ? { answer: 'allow', by } : undefined;
  if (!/^no?[,.:]?$/i.test(word)) return undefined;
  return { answer: 'deny', by, ...(rest !== '' && { reason: rest }) };
}

function cancelled(by: string): AskReply {
  return { answer: 'deny', by, reason: 'The call was cancelled while the question stood.' };
}

/** Questions wait for the one before; one that is cancelled while it waits is answered at once and never shown. */
function oneAtATime(put: (question: AskQuestion) => Promise<AskReply>, by: string): Asker {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ask(question) {
      const answer = last.then(() => put(question));
      last = answer.catch(() => undefined);
      return new Promise((resolve, reject) => {
        const onAbort = () => resolve(cancelled(by));
        if (question.signal.aborted) onAbort();
        question.signal.addEventListener('abort', onAbort, { once: true });
        answer.then(resolve, reject).finally(() => question.signal.removeEventListener('abort', onAbort));
      });
    },
  };
}
