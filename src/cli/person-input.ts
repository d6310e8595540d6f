import type { CallContext, Identity, Recorder, ToolDefinition } from '../contracts/index.ts';
import { recordedInput } from '../dispatch/index.ts';
import {
  type ComposedInput,
  choosePrompt,
  composeInput,
  contentWatch,
  findMentions,
  type Prompter,
  readSlash,
} from '../host/index.ts';
import { printable, wireName } from '../tools/index.ts';
import type { Workspace } from './workspace.ts';

/** What a person says, with what they name in it: resources, files, prompts. */
export interface PersonInput {
  /**
   * @param isPlain a slash at the beginning is meant as one
   * @throws BridleError when something that was named can't be had
   */
  compose(text: string, signal: AbortSignal, isPlain?: boolean): Promise<ComposedInput>;
  /** Whether a text that begins with a slash calls a prompt. Throws as `compose` does. */
  callsPrompt(text: string): Promise<boolean>;
  /** Another conversation begins: what was read into the one before isn't followed any more. */
  clear(): void;
}

export interface PersonInputOptions {
  readonly workspace: Pick<Workspace, 'content' | 'project' | 'rules'>;
  readonly who: Identity;
  readonly input: CallContext['input'];
  /** Told what servers ask while they are read from, and what they were told. */
  readonly recorder: Pick<Recorder, 'question'>;
  /** The conversation that the words are for. */
  readonly conversation: () => string;
  /** A tool of the agent by its wire name, whether it is shown or not. */
  readonly tool: (name: string) => ToolDefinition | undefined;
  /** The person; undefined where nobody can be asked. */
  readonly prompter: Prompter | undefined;
  /** Shows the person a line. */
  note(text: string): void;
}

/** As long as the listing of a server may take. */
const LISTED_MS = 30_000;

export function personInput(options: PersonInputOptions): PersonInput {
  const { workspace, who, prompter, note, recorder, conversation } = options;
  const { content: catalog, project } = workspace;
  const watch = contentWatch();
  const mayRead = (key: string) => {
    const tool = options.tool(wireName(key, 'read_resource'));
    return tool === undefined || workspace.rules.view(who, tool).effect !== 'deny';
  };
  return {
    async compose(text, signal, isPlain = false) {
      const hostNote = watch.take();
      const composing = async () => {
        if (needsContent(text, isPlain)) await catalog.settle(LISTED_MS);
        const input = options.input && recordedInput(options.input, { recorder, who, conversation: conversation() });
        return composeInput(text, {
          catalog,
          root: project.root,
          caller: { who, signal, ...(input && { input }) },
          mayRead,
          isPlain,
          hostNote,
          ...(prompter && {
            ask: async ({ name, description }, { prompt }) => {
              const what = description === undefined ? '' : ` (${printable(description, { maxLength: 200 })})`;
              return prompter.ask(`${printable(prompt.name)}, ${printable(name)}${what}: `, signal);
            },
          }),
        });
      };
      const composed = await composing().catch((error: unknown) => {
        // Nothing is sent, so the model hasn't been told.
        watch.untake();
        throw error;
      });
      watch.add(composed.resources);
      if (hostNote !== undefined) note(hostNote);
      for (const one of composed.attached) note(`+ ${printable(one, { maxLength: 300 })}`);
      for (const one of composed.notes) note(one);
      return composed;
    },
    async callsPrompt(text) {
      const slash = readSlash(text);
      if (!slash) return false;
      await catalog.settle(LISTED_MS);
      return choosePrompt(slash.name, catalog, who) !== undefined;
    },
    clear: () => watch.clear(),
  };
}

/** Whether the servers' content has to be known before this is said. */
export function needsContent(text: string, isPlain: boolean): boolean {
  return findMentions(text).length > 0 || (!isPlain && readSlash(text) !== undefined);
}
