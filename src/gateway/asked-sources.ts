import type { ContentSource, Failure, Source, SourceResult } from '../contracts/index.ts';
import type { Rounds } from './rounds.ts';

/**
 * The source of a server whose questions reach clients of any revision, and whose failures don't tell them where it is: a
 * command line or an address is for whoever runs the gateway.
 */
export function askedSource(source: Source, rounds: Rounds, place?: string): Source {
  const { server, limits } = source;
  const preview = source.preview?.bind(source);
  const shown = withoutPlace(place);
  return {
    server,
    ...(limits && { limits }),
    ...(preview && { preview }),
    list: (signal) => source.list(signal),
    call: (name, args, ctx) =>
      rounds.run({ kind: 'tool', server, name, args }, ctx, async (leg) => shown(await source.call(name, args, leg))),
    onChange: (listener) => source.onChange(listener),
    changeDue: () => source.changeDue?.() === true,
  };
}

/** The same for resources and prompts. */
export function askedContent(source: ContentSource, rounds: Rounds, place?: string): ContentSource {
  const { server } = source;
  const visible = source.visible?.bind(source);
  const shown = withoutPlace(place);
  const subject = (kind: 'resource' | 'prompt', name: string, args: Readonly<Record<string, string>> = {}) => ({
    kind,
    server,
    name,
    args: { ...args },
  });
  return {
    server,
    ...(visible && { visible }),
    list: (signal) => source.list(signal),
    read: (uri, ctx) => rounds.run(subject('resource', uri), ctx, async (leg) => shown(await source.read(uri, leg))),
    prompt: (name, args, ctx) =>
      rounds.run(subject('prompt', name, args), ctx, async (leg) => shown(await source.prompt(name, args, leg))),
    complete: (ref, argument, known, signal, who) => source.complete(ref, argument, known, signal, who),
    subscribe: (uri, listener) => source.subscribe(uri, listener),
    onChange: (listener) => source.onChange(listener),
  };
}

function withoutPlace(place: string | undefined): (result: SourceResult) => SourceResult {
  return (result) => {
    if (place === undefined || result.kind !== 'failure') return result;
    const { message, attempts } = result.failure;
    const failure: Failure = {
      ...result.failure,
      message: unplaced(message, place),
      attempts: attempts.map((attempt) => unplaced(attempt, place)),
    };
    return { ...result, failure };
  };
}

/** As a connection puts it behind the server's key. What follows on lines of its own is what the server printed. */
function unplaced(text: string, place: string): string {
  const [first = ''] = text.split('\n');
  return first.replaceAll(` (${place})`, '');
}
