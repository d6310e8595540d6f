import type { TrustItem, TrustRequest } from './describe-trust.ts';
import type { Prompter } from './prompter.ts';
import { visibleText } from './visible-text.ts';

/** Asks a person whether a project may do what it says. */
export type TrustAsker = (request: TrustRequest, signal: AbortSignal) => Promise<boolean>;

/** Everything that is asked for, as plain text. */
export function trustText(request: TrustRequest): string {
  const again = request.items.some(({ state }) => state !== 'first');
  const lines = [
    again
      ? `The files of ${visibleText(request.root)} have changed since you trusted them:`
      : `${visibleText(request.root)} is not trusted yet. If you trust it:`,
    '',
    ...request.items.flatMap(itemLines),
    ...request.gone.map((name) => `  gone: ${name}`),
  ];
  if (again && request.gone.length === 0 && request.items.every(({ state }) => state === 'same')) {
    lines.push(
      '',
      'All of this is as you trusted it; something else in the files has changed, such as a comment or a rule.',
    );
  }
  if (request.notes.length > 0) lines.push('', 'Whatever you answer:', ...request.notes.map((note) => `  ${note}`));
  // After a screenful the first of them are out of sight, and it is all of them that is agreed to.
  if (request.items.length > 1) lines.push('', `In all: ${counted(request.items)}.`);
  return `${lines.join('\n')}\n`;
}

const KINDS: Readonly<Record<TrustItem['kind'], string>> = {
  server: 'server',
  program: 'file',
  allow: 'allow rule',
  preview: 'preview',
  agent: 'agent',
  hook: 'hook',
  view: 'view',
};

function counted(items: readonly TrustItem[]): string {
  const counts = Object.entries(KINDS).map(([kind, word]) => [items.filter((item) => item.kind === kind).length, word]);
  return counts
    .flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}${count === 1 ? '' : 's'}`]))
    .join(', ');
}

const MARKS: Readonly<Record<TrustItem['state'], string>> = {
  first: '',
  new: 'NEW: ',
  changed: 'CHANGED: ',
  same: 'as before: ',
};

function itemLines({ lines, state }: TrustItem): readonly string[] {
  return lines.map((line, index) => `  ${index === 0 ? MARKS[state] : ''}${line}`);
}

/** The question in a terminal. Only `y` or `yes` is a yes; the end of the input and an abort are a no. */
export function trustPrompt(prompter: Prompter): TrustAsker {
  return (request, signal) =>
    prompter.alone(async () => {
      prompter.write(`\n${trustText(request)}\n`);
      const line = await prompter.ask('Trust this folder? Remembered until the files change. [y/N] ', signal);
      return /^y(es)?$/i.test(line?.trim() ?? '');
    });
}
