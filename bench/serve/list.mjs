/**
 * A list of ten thousand tools: served by Bridle, or, given the address of that, the same bytes by plain `node:http`.
 * Tells its processor time whenever it is asked.
 *
 * Usage: node bench/serve/list.mjs [URL]
 */
import { createServer } from 'node:http';
import { defineTool, toolHost } from 'bridle';
import { serve } from 'bridle/server';

const COUNT = 10_000;
const [of] = process.argv.slice(2);

async function bridle() {
  const properties = { city: { type: 'string', description: 'A city, as people there write it.' } };
  const tools = Array.from({ length: COUNT }, (_, at) =>
    defineTool(
      {
        name: `look_up_${at}`,
        description: `Looks up what is known of a city in register ${at}.`,
        input: { type: 'object', properties, required: ['city'] },
        annotations: { readOnlyHint: true },
      },
      ({ city }) => city,
    ),
  );
  const { url } = await serve(await toolHost({ tools }), { http: { port: 0, token: false } });
  return url;
}

async function plain({ request, url }) {
  const answer = await fetch(url, request);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const server = createServer((asked, response) => {
    asked.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${server.address().port}/mcp`;
}

const url = of === undefined ? await bridle() : await plain(JSON.parse(of));
process.on('message', () => process.send({ cpu: process.cpuUsage() }));
process.once('disconnect', () => process.exit());
process.send({ url });
