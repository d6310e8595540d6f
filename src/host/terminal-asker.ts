import type { Asker, AskQuestion, AskReply } from '../contracts/index.ts';
import type { LineStream } from './line-input.ts';
import { linePrompter, type Prompter } from './prompter.ts';
import { questionText } from './question-text.ts';
import { visibleText } from './visible-text.ts';

/** A rule that allows exactly the tool of a question for the rest of the session, or why there can be none. */
export type AlwaysAnswer = { readonly rule: string } | { readonly why: string };

export interface TerminalAskerOptions {
  /** The person. Instead, `input` and `output` of a terminal in its line mode. */
  readonly prompter?: Prompter;
  readonly input?: LineStream;
  /** stderr: stdout belongs to the answer. */
  readonly output?: { write(text: string): unknown };
  /** Recorded as the one who answered. Default `terminal`. */
  readonly by?: string;
  /** Offers "always": called with the question that was answered so; makes the rule, or says why not. */
  readonly always?: (question: AskQuestion) => AlwaysAnswer;
  /** Offers "always in this project" besides: stores that, or says why not. */
  readonly alwaysHere?: (question: AskQuestion) => Promise<AlwaysAnswer>;
}

const TRIES = 3;
const PROMPT = 'Run it? y: yes, once. n: no; words after it are told to the agent. [y/n] ';
const YES = 'y: yes, once. a: always, for this tool, until you leave.\n';
const HERE = 'p: always in this project, for this tool as it is now, for 30 days.\n';
const NO = 'n: no; words after it are told to the agent.\n';
const PROMPT_ALWAYS = `${YES}${NO}Run it? [y/a/n] `;
const PROMPT_HERE = `${YES}${HERE}${NO}Run it? [y/a/p/n] `;

/**
 * Puts questions to the person at the terminal, one at a time. The end of the input, an abort (Ctrl-C) and three
 * answers that are neither yes nor no are a no.
 */
export function terminalAsker(options: TerminalAskerOptions): Asker {
  const { by = 'terminal', always, alwaysHere } = options;
  const asking = always ? (alwaysHere ? PROMPT_HERE : PROMPT_ALWAYS) : PROMPT;
  const prompter = options.prompter ?? linePrompter(streams(options));
  const put = async (question: AskQuestion): Promise<AskReply> => {
    if (question.signal.aborted) return cancelled(by);
    prompter.write(`\n${questionText(question)}`);
    for (let tries = 0; tries < TRIES; tries++) {
      const line = await prompter.ask(asking, question.signal);
      if (question.signal.aborted) return cancelled(by);
      if (line === undefined)
        return { answer: 'deny', by, reason: 'The input ended before the question was answered.' };
      if (always && /^\s*a(lways)?\s*$/i.test(line)) {
        const made = always(question);
        if ('rule' in made) {
          prompter.write(`Allowed until you leave: ${visibleText(made.rule)}\n`);
          return { answer: 'allow', by: `${by}, always in this session`, always: 'session' };
        }
        prompter.write(`Not always: ${visibleText(made.why)}\n`);
        continue;
      }
      if (always && alwaysHere && /^\s*p(roject)?\s*$/i.test(line)) {
        const made = await alwaysHere(question);
        if ('rule' in made) {
          prompter.write(`Allowed: ${visibleText(made.rule)}\n`);
          return { answer: 'allow', by: `${by}, always in this project`, always: 'project' };
        }
        prompter.write(`Not always: ${visibleText(made.why)}\n`);
        continue;
      }
      const reply = replyOf(line, by);
      if (reply) return reply;
    }
    return { answer: 'deny', by, reason: 'The question was not answered with yes or no.' };
  };
  return atOnceWhenCancelled((question) => prompter.alone(() => put(question)), by);
}

function streams({ input, output }: TerminalAskerOptions): Parameters<typeof linePrompter>[0] {
  if (!input || !output) throw new TypeError('A terminal asker needs a prompter, or an input and an output.');
  return { input, output };
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

/** A question that is cancelled while it waits for the one before is answered at once and never shown. */
function atOnceWhenCancelled(put: (question: AskQuestion) => Promise<AskReply>, by: string): Asker {
  return {
    ask(question) {
      const answer = put(question);
      return new Promise((resolve, reject) => {
        const onAbort = () => resolve(cancelled(by));
        if (question.signal.aborted) onAbort();
        question.signal.addEventListener('abort', onAbort, { once: true });
        answer.then(resolve, reject).finally(() => question.signal.removeEventListener('abort', onAbort));
      });
    },
  };
}
