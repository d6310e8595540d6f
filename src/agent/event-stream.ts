import type { RunEvent } from './events.ts';

/** Events kept for readers that come late or lag behind. */
const CAPACITY = 4_096;

/**
 * Gives a run's events to any number of readers, none of whom the run waits for.
 *
 * Every reader starts at the beginning. What nobody has read yet is kept up to a bound; pieces of the
 * same text, thought or arguments in a row are joined meanwhile. A reader that comes too late, or falls too far behind, is told how many events it missed.
 */
export class EventStream implements AsyncIterable<RunEvent> {
  /** The event with number `first` is the first of `kept`. */
  private kept: RunEvent[] = [];
  private first = 0;
  /** The number after the highest that any reader has been given. */
  private readTo = 0;
  private ended = false;
  private readonly wakers = new Set<() => void>();
  private readonly capacity: number;

  constructor(capacity: number = CAPACITY) {
    this.capacity = capacity;
  }

  /** Adds an event. After `end` nothing is added. */
  push(event: RunEvent): void {
    if (this.ended) return;
    this.ended = event.type === 'end';
    const last = this.kept.at(-1);
    const isUnread = this.readTo < this.first + this.kept.length;
    const both = isUnread && last !== undefined ? joined(last, event) : null;
    if (both !== null) this.kept[this.kept.length - 1] = both;
    else this.kept.push(event);
    if (this.kept.length > this.capacity * 2) {
      const gone = this.kept.length - this.capacity;
      this.kept = this.kept.slice(gone);
      this.first += gone;
    }
    const wakers = [...this.wakers];
    this.wakers.clear();
    for (const wake of wakers) wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void, void> {
    let at = 0;
    while (true) {
      if (at < this.first) {
        yield { type: 'skipped', count: this.first - at };
        at = this.first;
      }
      const event = this.kept[at - this.first];
      if (event !== undefined) {
        at += 1;
        this.readTo = Math.max(this.readTo, at);
        yield event;
        if (event.type === 'end') return;
      } else if (this.ended) {
        return;
      } else {
        await new Promise<void>((wake) => this.wakers.add(wake));
      }
    }
  }
}

/** Two pieces of the same as one; null when they are of different things, or no pieces. */
function joined(before: RunEvent, event: RunEvent): RunEvent | null {
  if (event.type === 'text' || event.type === 'thinking') {
    return before.type === event.type ? { ...event, text: before.text + event.text } : null;
  }
  if (event.type !== 'arguments' || before.type !== 'arguments' || before.index !== event.index) return null;
  // A piece without text opens a call: another reply's may have the same place.
  return event.piece === '' ? null : { ...event, piece: before.piece + event.piece };
}
