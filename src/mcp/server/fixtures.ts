import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';

/** As much of a response as a stream needs. */
export function fakeResponse() {
  const pipe = new PassThrough({ highWaterMark: 1 << 30 });
  const headers = { writeHead: () => response, flushHeaders() {} };
  const response = Object.assign(pipe, headers) as unknown as ServerResponse;
  return { response, said: () => String(pipe.read() ?? '') };
}
