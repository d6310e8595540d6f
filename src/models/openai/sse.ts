/** In UTF-16 units; no reply of a model comes near it. */
const LARGEST_EVENT = 64 * 1024 * 1024;

/**
 * Reads the `data` of server-sent events (WHATWG HTML, section 9.2) from bytes that may be cut anywhere, inside a
 * character or a line ending included. Event names and comments are of no use here and are dropped.
 *
 * @throws RangeError for an event that never ends
 */
export async function* sseData(body: AsyncIterable<Uint8Array>, largest = LARGEST_EVENT): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  let size = 0;
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    // A CR at the very end may be the first half of CRLF, so it waits for what follows.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n');
        data = [];
        size = 0;
      } else if (line.startsWith('data:')) {
        data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
        size += line.length;
      }
    }
    if (size + rest.length > largest) throw new RangeError(`an event of more than ${largest} characters`);
  }
  // Some servers end without the closing blank line.
  const last = (rest + decoder.decode()).replace(/\r$/, '');
  if (last.startsWith('data:')) data.push(last.slice(5).trimStart());
  if (data.length > 0) yield data.join('\n');
}
