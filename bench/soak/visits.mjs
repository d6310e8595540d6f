/**
 * What clients do, each visit whole: it asks, checks every answer against its question, and leaves, in order or not. A
 * visit throws when an answer isn't the one to its question.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { LEGACY, legacyBody, messagesOf, modernBody, modernHeaders, until } from './wire.mjs';

const FORM = { elicitation: { form: {} } };
let nth = 0;
const number = () => {
  nth += 1;
  return nth;
};
const unique = () => `text ${number()} ${'x'.repeat(nth % 200)}`;
const textOf = (message) => message.result?.content?.[0]?.text;

async function modern(at, name, args, { capabilities = {}, more = {}, ...options } = {}) {
  const id = `m${number()}`;
  const body = modernBody(id, 'tools/call', { name, arguments: args, ...more }, capabilities);
  const messages = messagesOf(await at.http.send({ headers: modernHeaders('tools/call', name), body, ...options }));
  const last = messages.at(-1);
  assert.equal(last?.id, id);
  return { last, messages };
}

/** A session with what it takes to use it. */
async function session(at, capabilities = {}) {
  const params = { protocolVersion: LEGACY, capabilities, clientInfo: { name: 'soak', version: '1' } };
  const opened = await at.http.send({ body: legacyBody(0, 'initialize', params) });
  assert.equal(opened.status, 200, opened.text);
  const headers = { 'mcp-session-id': opened.headers['mcp-session-id'], 'mcp-protocol-version': LEGACY };
  const note = await at.http.send({ headers, body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' });
  assert.equal(note.status, 202);
  let last = 0;
  const next = () => {
    last += 1;
    return last;
  };
  return {
    headers,
    async ask(method, params) {
      const own = next();
      const answer = messagesOf(await at.http.send({ headers, body: legacyBody(own, method, params) })).at(-1);
      assert.equal(answer?.id, own);
      return answer;
    },
    open: (method, params) => at.http.open({ headers, body: legacyBody(next(), method, params), alone: true }),
    listen: (after) =>
      at.http.open({ method: 'GET', headers: { ...headers, ...(after && { 'last-event-id': after }) }, alone: true }),
    tell: (message) => at.http.send({ headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) }),
    close: () => at.http.send({ method: 'DELETE', headers }),
  };
}

export const VISITS = {
  async 'calls without a session'(at) {
    for (let left = 5; left > 0; left -= 1) {
      const text = unique();
      assert.equal(textOf((await modern(at, 'echo', { text })).last), text);
    }
  },
  async 'a session, ended in order'(at) {
    const one = await session(at);
    const texts = [unique(), unique(), unique()];
    const answers = await Promise.all(
      texts.map((text) => one.ask('tools/call', { name: 'echo', arguments: { text } })),
    );
    assert.deepEqual(answers.map(textOf), texts);
    await one.close();
    assert.equal((await at.http.send({ headers: one.headers, body: legacyBody(9, 'ping') })).status, 404);
  },
  async 'a session that is left'(at) {
    const text = unique();
    assert.equal(textOf(await (await session(at)).ask('tools/call', { name: 'echo', arguments: { text } })), text);
  },
  async 'progress on the stream of a call'(at) {
    const text = unique();
    const { last, messages } = await modern(at, 'counts', { text }, { more: { _meta: { progressToken: 'p' } } });
    assert.equal(textOf(last), text);
    assert.deepEqual(
      messages.slice(0, -1).map(({ params }) => params.progress),
      [1, 2, 3],
    );
  },
  async 'a stream that is cut and gone on with'(at) {
    const one = await session(at);
    await one.ask('resources/subscribe', { uri: 'notes://one' });
    const first = await one.listen();
    assert.equal(textOf(await one.ask('tools/call', { name: 'touch', arguments: { text: 'a' } })), 'a');
    const { text } = await until(first, ({ method }) => method === 'notifications/resources/updated');
    first.cut();
    await one.ask('tools/call', { name: 'touch', arguments: { text: 'b' } });
    const last = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1];
    const second = await one.listen(last);
    await until(second, ({ method }) => method === 'notifications/resources/updated');
    second.cut();
    await one.close();
  },
  async 'changes listened for without a session'(at) {
    const id = `l${number()}`;
    const params = { notifications: { toolsListChanged: true, resourceSubscriptions: ['notes://one'] } };
    const headers = modernHeaders('subscriptions/listen');
    const stream = await at.http.open({ headers, body: modernBody(id, 'subscriptions/listen', params), alone: true });
    await until(stream, ({ method }) => method === 'notifications/subscriptions/acknowledged');
    await modern(at, 'touch', { text: 'c' });
    await until(stream, ({ method }) => method === 'notifications/resources/updated');
    stream.cut();
  },
  async 'a call that is cancelled by leaving'(at) {
    const stop = new AbortController();
    const body = modernBody('w', 'tools/call', { name: 'waits', arguments: { text: '' } });
    const left = at.http.open({
      headers: modernHeaders('tools/call', 'waits'),
      body,
      signal: stop.signal,
      alone: true,
    });
    await modern(at, 'echo', { text: 'meanwhile' });
    stop.abort();
    await assert.rejects(left);
  },
  async 'a call that is cancelled in a session'(at) {
    const one = await session(at);
    const waits = one.open('tools/call', { name: 'waits', arguments: { text: '' } });
    await one.ask('ping');
    await one.tell({ method: 'notifications/cancelled', params: { requestId: 1 } });
    await one.close();
    (await waits).cut();
  },
  async 'a question that is answered'(at) {
    const text = unique();
    const { last } = await modern(at, 'asks', { text }, { capabilities: FORM });
    const { inputRequests, requestState } = last.result;
    const [key] = Object.keys(inputRequests);
    const inputResponses = { [key]: { action: 'accept', content: { part: 'three' } } };
    const more = { inputResponses, requestState };
    assert.equal(textOf((await modern(at, 'asks', { text }, { capabilities: FORM, more })).last), `${text} three`);
  },
  async 'a question that is left'(at) {
    const { last } = await modern(at, 'asks', { text: unique() }, { capabilities: FORM });
    assert.equal(last.result.resultType, 'input_required');
  },
  async 'a question on the stream of a call'(at) {
    const one = await session(at, { elicitation: {} });
    const text = unique();
    const stream = await one.open('tools/call', { name: 'asks', arguments: { text } });
    const asked = await until(stream, ({ method }) => method === 'elicitation/create');
    if (nth % 3 > 0) {
      await one.tell({ id: asked.found.id, result: { action: 'accept', content: { part: 'two' } } });
      const { found } = await until(stream, ({ id }) => id === 1);
      assert.equal(textOf(found), `${text} two`);
    }
    stream.cut();
    await one.close();
  },
  async 'a handle that nobody comes back for'(at) {
    assert.match(textOf((await modern(at, 'opens', { text: unique() })).last), /^\S+$/);
  },
  async 'lines over a Unix socket'(at) {
    const text = unique();
    const said = await lines(at.path, [
      'this is no JSON',
      modernBody(1, 'tools/call', { name: 'echo', arguments: { text } }),
      legacyBody(2, 'initialize', {
        protocolVersion: LEGACY,
        capabilities: {},
        clientInfo: { name: 's', version: '1' },
      }),
    ]);
    assert.equal(textOf(said.find(({ id }) => id === 1)), text);
    assert.equal(said.find(({ id }) => id === 2).result.protocolVersion, LEGACY);
    assert.equal(said.find(({ id }) => id === null).error.code, -32700);
  },
};

/** A call as a task, of which the server keeps a timer and what came of it for ten minutes at least. */
export async function task(at) {
  const one = await session(at);
  const text = unique();
  const begun = await one.ask('tools/call', { name: 'later', arguments: { text }, task: { ttl: 1_000 } });
  const { taskId } = begun.result.task;
  if (nth % 2 > 0) assert.equal(textOf(await one.ask('tasks/result', { taskId })), text);
  await one.close();
}

/** Sends lines, reads as many, and hangs up. */
function lines(path, sent) {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => socket.write(sent.map((line) => `${line}\n`).join('')));
    let seen = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      seen += chunk;
      const whole = seen.split('\n').slice(0, -1);
      if (whole.length < sent.length) return;
      socket.destroy();
      resolve(whole.map((line) => JSON.parse(line)));
    });
    socket.once('error', reject);
  });
}

/** What the server takes of a body, in bytes. */
const TOO_LONG = 1_000_000;

const legal = modernHeaders('tools/call', 'echo');
const wrong = (body, headers = legal) => ({ body, headers });

/** Requests that no client should send: each is answered with an error of JSON-RPC. */
export const MALFORMED = [
  wrong('{"jsonrpc"'),
  wrong(''),
  wrong('[]'),
  wrong('null'),
  wrong('"text"'),
  wrong('{"jsonrpc":"1.0","id":1,"method":"ping"}'),
  wrong('{"jsonrpc":"2.0","id":{},"method":"ping"}'),
  wrong('['.repeat(2_000) + ']'.repeat(2_000)),
  wrong(modernBody(1, 'tools/call', { name: 'echo', arguments: 5 })),
  wrong(modernBody(1, 'tools/call', { name: 7 })),
  wrong(modernBody(1, 'tools/call', { name: 'nobody', arguments: {} }), modernHeaders('tools/call', 'nobody')),
  wrong(modernBody(1, 'tools/call', { name: 'echo', arguments: {} }), modernHeaders('tools/list')),
  wrong(modernBody(1, 'no/such', {}), modernHeaders('no/such')),
  wrong(legacyBody(1, 'tools/list'), {}),
  wrong(legacyBody(1, 'tools/list'), { 'mcp-session-id': 'nobody' }),
  wrong(
    modernBody(1, 'tools/call', { name: 'asks', arguments: { text: 'x' }, requestState: 5 }),
    modernHeaders('tools/call', 'asks'),
  ),
  wrong('x'.repeat(1_100_000)),
];

export async function malformed(at, which) {
  const request = MALFORMED[which % MALFORMED.length];
  const answer = await at.http.send({ ...request, alone: true }).catch((error) => {
    // A server that answers before it has read all closes the connection, and the answer may be lost to who still writes.
    if (request.body.length > TOO_LONG && ['EPIPE', 'ECONNRESET'].includes(error.code)) return null;
    throw error;
  });
  if (answer === null) return;
  const { error } = JSON.parse(answer.text);
  assert.ok(Number.isInteger(error.code) && typeof error.message === 'string', answer.text);
}

/** Peers that break off: in the middle of a head, of a body, or before their answer. */
export function brokenOff(at, which) {
  const { hostname, port } = new URL(at.url);
  const head = `POST /mcp HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\ncontent-length: 500\r\n`;
  const body = modernBody(1, 'tools/call', { name: 'waits', arguments: { text: '' } });
  const whole = Object.entries({
    ...modernHeaders('tools/call', 'waits'),
    accept: 'application/json, text/event-stream',
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const sent = [
    'POST /mcp HT',
    head,
    `${head}\r\n{"jsonrpc":`,
    `${head.replace('500', String(Buffer.byteLength(body)))}${whole}\r\n${body}`,
    'nonsense\r\n\r\n',
  ][which % 5];
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(sent ?? '');
      setTimeout(() => socket.destroy(), which % 20);
    });
    socket.on('error', () => {});
    socket.resume().once('close', resolve);
  });
}
