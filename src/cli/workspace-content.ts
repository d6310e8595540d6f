import type { ContentListing, ContentSource, ServerRef, SourceResult } from '../contracts/index.ts';

/** The resources and prompts of a server that can be restarted and switched off; what is followed stays followed. */
export interface RestartableContent extends ContentSource {
  /** Goes on with those of another connection; null: the server is switched off. */
  use(content: ContentSource | null): void;
}

const NOTHING: ContentListing = { resources: [], templates: [], prompts: [], setAside: [] };

/** @param off what is said while it is switched off */
export function restartableContent(server: ServerRef, off: string): RestartableContent {
  let inner: ContentSource | null = null;
  let unfollow = () => {};
  const listeners = new Set<() => void>();
  const followed = new Set<{ readonly uri: string; readonly listener: () => void; stop: () => void }>();
  const tell = () => {
    for (const listener of [...listeners]) listener();
  };
  const refused: SourceResult = {
    kind: 'failure',
    failure: { category: 'permission', retryable: false, message: off, executed: 'not_executed', attempts: [] },
  };
  return {
    server,
    use(content) {
      unfollow();
      for (const one of followed) one.stop();
      inner = content;
      unfollow = content?.onChange(tell) ?? (() => {});
      for (const one of followed) one.stop = content?.subscribe(one.uri, one.listener) ?? (() => {});
      tell();
    },
    list: async (signal) => inner?.list(signal) ?? NOTHING,
    read: async (uri, ctx) => inner?.read(uri, ctx) ?? refused,
    prompt: async (name, args, ctx) => inner?.prompt(name, args, ctx) ?? refused,
    complete: async (...asked) => inner?.complete(...asked) ?? { values: [] },
    subscribe(uri, listener) {
      const one = { uri, listener, stop: inner?.subscribe(uri, listener) ?? (() => {}) };
      followed.add(one);
      return () => {
        followed.delete(one);
        one.stop();
      };
    },
    onChange(listener) {
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
