import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Asker, AskQuestion } from '../contracts/index.ts';
import type { AlwaysAnswer } from '../host/index.ts';
import { type Approvals, approvals, ruleFor } from '../policy/index.ts';
import { installationKey, stateDir } from '../store/index.ts';
import { isBridleError } from '../tools/index.ts';
import type { CommandIo } from './command.ts';
import { type StateStore, stateStore } from './state-store.ts';

/** The person's stored approvals; the store is opened when it is first needed. */
export interface ApprovalInbox {
  open(): Promise<Approvals>;
  /** Answers from the store, else as `unstored` says: somebody is asked, or the question is put into the store. */
  asker(unstored: { readonly person: Asker } | { readonly park: { readonly waitMs: number } }): Asker;
  /** Allows a tool in this project until that expires, for the answer "always" to a question. */
  always(question: AskQuestion): Promise<AlwaysAnswer>;
  /** How many of these approvals wait for their answer, or for being used. */
  pending(ids: readonly string[]): Promise<number>;
  /** Waits for what is to be written. */
  close(): Promise<void>;
}

/**
 * @param place the project's folder
 * @param state where it is kept; closed with it
 */
export function approvalInbox(
  io: Pick<CommandIo, 'env'>,
  place = '',
  state: StateStore = stateStore(io),
): ApprovalInbox {
  let opened: Promise<Approvals> | undefined;
  const openInbox = async () => {
    const key = await installationKey(join(stateDir(io.env), 'installation.key'));
    return approvals({ store: await state.open(), key, place });
  };
  const open = (): Promise<Approvals> => {
    opened ??= openInbox();
    return opened;
  };
  /** Where there is no store nothing was approved, and where it can't be read nothing counts as approved. */
  const there = async (): Promise<Approvals | undefined> => {
    if (opened === undefined && state.isAbsent()) return undefined;
    return open().catch(() => undefined);
  };
  return {
    open,
    asker: (unstored) => ({
      async ask(question) {
        if ('park' in unstored) return (await open()).asker(unstored.park).ask(question);
        const inbox = await there();
        return (inbox?.asker({ otherwise: unstored.person }) ?? unstored.person).ask(question);
      },
    }),
    async always(question) {
      try {
        const { id, expiresAt } = await (await open()).allowAlways(question, { by: personName() });
        const until = new Date(expiresAt).toISOString().slice(0, 10);
        return { rule: `${ruleFor(question.tool)} in this project, until ${until} (bridle approvals revoke ${id})` };
      } catch (error) {
        if (!isBridleError(error)) throw error;
        return { why: error.message };
      }
    },
    async pending(ids) {
      const inbox = await there();
      const all = inbox ? await inbox.list() : [];
      return all.filter(({ id, state }) => ids.includes(id) && (state === 'waiting' || state === 'approved')).length;
    },
    async close() {
      const inbox = await opened?.catch(() => undefined);
      await inbox?.flush();
      await state.close();
    },
  };
}

/** The person at this terminal, for the record. */
export function personName(): string {
  try {
    return `${userInfo().username} (terminal)`;
  } catch {
    return 'terminal';
  }
}
