/** In UTF-16 units; no reply of a model comes near it. */
const LARGEST_EVENT = 64 * 1024 * 1024;

/** One server-sent event: its name, empty where it has none, and its data. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Reads server-sent events (WHATWG HTML, section 9.2) from bytes that may be cut anywhere, inside a character or a line
 * ending included. Comments and ids are of no use here and are dropped. All events of a piece are given at once, so that
 * a reply of many small ones costs no wait for each.
 */
export class SseReader {
  readonly #decoder = new TextDecoder();
  readonly #largest: number;
  /** The begin of a line whose end hasn't come, in the pieces in which it came: joined once, however many there are. */
  #rest: string[] = [];
  #data: string[] = [];
  #event = '';
  #held = 0;

  constructor(largest = LARGEST_EVENT) {
    this.#largest = largest;
  }

  /** @throws RangeError for an event that never ends */
  read(bytes: Uint8Array): readonly SseEvent[] {
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#held += text.length;
    if (this.#held > this.#largest) throw new RangeError(`an event of more than ${this.#largest} characters`);
    return this.#take(text);
  }

  /** What is left when no more comes: some servers end without the closing blank line. */
  end(): readonly SseEvent[] {
    return this.#take(`${this.#decoder.decode()}\n\n`);
  }

  #take(text: string): readonly SseEvent[] {
    if (!text.includes('\n') && !text.includes('\r')) {
      if (text !== '') this.#rest.push(text);
      return [];
    }
    const whole = this.#rest.join('') + text;
    // A CR at the very end may be the first half of CRLF, so it waits for what follows.
    const lines = whole.includes('\r') ? whole.split(/\r\n|\n|\r(?!$)/) : whole.split('\n');
    const rest = lines.pop() ?? '';
    this.#rest = rest === '' ? [] : [rest];
    const events: SseEvent[] = [];
    for (const line of lines) this.#line(line, events);
    if (events.length > 0) this.#held = rest.length;
    return events;
  }

  #line(line: string, events: SseEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) events.push({ event: this.#event, data: this.#data.join('\n') });
      this.#data = [];
      this.#event = '';
    } else if (line.startsWith('data:')) this.#data.push(fieldOf(line, 5));
    else if (line.startsWith('event:')) this.#event = fieldOf(line, 6);
  }
}

function fieldOf(line: string, from: number): string {
  return line.slice(line[from] === ' ' ? from + 1 : from);
}
