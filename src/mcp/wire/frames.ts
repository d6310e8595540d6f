/** Room for the largest results seen in the field, and an end to what a broken server can make us hold. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

export interface FrameReader {
  /** Takes bytes as they come. False once a line has outgrown the limit: the stream can't be read on from there. */
  push(chunk: Buffer): boolean;
  /** Bytes of the unfinished line. */
  held(): number;
}

/**
 * Cuts a byte stream into lines (MCP stdio transport: one message a line). Lines are decoded whole, so characters split
 * over chunks survive; a carriage return before the line feed and empty lines are dropped.
 *
 * @param maxBytes the longest line in bytes; never more than that and one chunk is held
 * @param onLine gets each line without its end
 */
export function frameReader(maxBytes: number, onLine: (line: string) => void): FrameReader {
  let parts: Buffer[] = [];
  let size = 0;
  let broken = false;

  const emit = (bytes: Buffer) => {
    const end = bytes.length > 0 && bytes[bytes.length - 1] === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
    if (end > 0) onLine(bytes.toString('utf8', 0, end));
  };
  const overflow = (): false => {
    broken = true;
    parts = [];
    size = 0;
    return false;
  };

  return {
    held: () => size,
    push(chunk) {
      if (broken) return false;
      let from = 0;
      for (let feed = chunk.indexOf(LINE_FEED); feed !== -1; feed = chunk.indexOf(LINE_FEED, from)) {
        const piece = chunk.subarray(from, feed);
        from = feed + 1;
        if (size + piece.length > maxBytes) return overflow();
        if (size === 0) {
          emit(piece);
          continue;
        }
        parts.push(piece);
        const whole = Buffer.concat(parts, size + piece.length);
        parts = [];
        size = 0;
        emit(whole);
      }
      if (from === chunk.length) return true;
      const rest = chunk.subarray(from);
      if (size + rest.length > maxBytes) return overflow();
      parts.push(rest);
      size += rest.length;
      return true;
    },
  };
}
