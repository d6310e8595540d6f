import { StringDecoder } from 'node:string_decoder';

/** One event of a stream. */
export interface SseEvent {
  /** `message` when the stream names none. */
  readonly event: string;
  readonly data: string;
}

export interface SseReader {
  /** Takes bytes as they come. False once an event has outgrown the limit: the stream can't be read on from there. */
  push(chunk: Buffer): boolean;
  /** The stream has ended: an event whose closing empty line is missing is told as well. */
  end(): void;
  /** The last event id that the stream gave; it is what a resumed stream goes on from. */
  readonly lastId: string | undefined;
  /** How long to wait before connecting again, in milliseconds, where the stream says so. */
  readonly retryMs: number | undefined;
}

export interface SseHandlers {
  event(event: SseEvent): void;
  /** A line that is no field of the format. */
  garbage(line: string): void;
}

/**
 * Reads `text/event-stream` (HTML Living Standard, Server-sent events). Lines may end in LF, CR or CRLF, anywhere
 * between chunks.
 *
 * @param maxChars the longest event, in UTF-16 units
 */
export function sseReader(maxChars: number, on: SseHandlers): SseReader {
  const decoder = new StringDecoder('utf8');
  let parts: string[] = [];
  let data: string[] = [];
  let held = 0;
  let event = '';
  let lastId: string | undefined;
  let retryMs: number | undefined;
  let first = true;
  let afterCr = false;
  let broken = false;

  const dispatch = () => {
    // Without data there is no event, but its id counts: servers open a stream with one.
    if (data.length > 0 && data.some((line) => line !== ''))
      on.event({ event: event || 'message', data: data.join('\n') });
    data = [];
    event = '';
    held = 0;
  };

  const field = (line: string) => {
    if (line === '') return dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') {
      data.push(value);
      held += value.length + 1;
    } else if (name === 'event') event = value;
    else if (name === 'id') {
      if (!value.includes('\0')) lastId = value;
    } else if (name === 'retry') {
      if (/^\d{1,9}$/.test(value)) retryMs = Number(value);
    } else on.garbage(line);
  };

  const take = (text: string): boolean => {
    let from = 0;
    while (from < text.length) {
      if (afterCr && text[from] === '\n') from += 1;
      afterCr = false;
      const end = nextEnd(text, from);
      const piece = end === -1 ? text.slice(from) : text.slice(from, end);
      if (piece !== '') {
        parts.push(piece);
        held += piece.length;
        if (held > maxChars) return false;
      }
      if (end === -1) return true;
      const line = parts.length === 1 ? (parts[0] ?? '') : parts.join('');
      parts = [];
      held -= line.length;
      afterCr = text[end] === '\r';
      from = end + 1;
      field(line);
    }
    return true;
  };

  return {
    push(chunk) {
      if (broken) return false;
      let text = decoder.write(chunk);
      if (first && text !== '') {
        if (text.startsWith('\ufeff')) text = text.slice(1);
        first = false;
      }
      broken = !take(text);
      if (broken) parts = data = [];
      return !broken;
    },
    end() {
      if (broken) return;
      const line = parts.join('');
      parts = [];
      if (line !== '') field(line);
      dispatch();
    },
    get lastId() {
      return lastId;
    },
    get retryMs() {
      return retryMs;
    },
  };
}

function nextEnd(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  const cr = text.indexOf('\r', from);
  if (cr === -1) return feed;
  return feed === -1 ? cr : Math.min(feed, cr);
}
