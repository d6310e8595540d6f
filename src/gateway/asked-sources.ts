import type { ContentSource, Source } from '../contracts/index.ts';
import type { Rounds } from './rounds.ts';

/** The source of a server whose questions reach clients of any revision. */
export function askedSource(source: Source, rounds: Rounds): Source {
  const { server, limits } = source;
  const preview = source.preview?.bind(source);
  return {
    server,
    ...(limits && { limits }),
    ...(preview && { preview }),
    list: (signal) => source.list(signal),
    call: (name, args, ctx) =>
      rounds.run({ kind: 'tool', server, name, args }, ctx, (leg) => source.call(name, args, leg)),
    onChange: (listener) => source.onChange(listener),
    changeDue: () => source.changeDue?.() === true,
  };
}

/** The same for resources and prompts. */
export function askedContent(source: ContentSource, rounds: Rounds): ContentSource {
  const { server } = source;
  const visible = source.visible?.bind(source);
  return {
    server,
    ...(visible && { visible }),
    list: (signal) => source.list(signal),
    read: (uri, ctx) =>
      rounds.run({ kind: 'resource', server, name: uri, args: null }, ctx, (leg) => source.read(uri, leg)),
    prompt: (name, args, ctx) =>
      rounds.run({ kind: 'prompt', server, name, args: { ...args } }, ctx, (leg) => source.prompt(name, args, leg)),
    complete: (ref, argument, known, signal, who) => source.complete(ref, argument, known, signal, who),
    subscribe: (uri, listener) => source.subscribe(uri, listener),
    onChange: (listener) => source.onChange(listener),
  };
}
