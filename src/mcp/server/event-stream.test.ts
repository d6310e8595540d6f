import { expect, test } from 'vitest';
import { EventStreams } from './event-stream.ts';
import { fakeResponse } from './fixtures.ts';

test('a stream is counted until its response closes, and one whose client has gone already is not', async () => {
  const streams = new EventStreams(1);
  const gone = fakeResponse().response;
  gone.destroy();
  streams.begin(gone);
  expect(streams.isFull).toBe(false);
  const { response } = fakeResponse();
  streams.begin(response);
  expect(streams.isFull).toBe(true);
  await new Promise((resolve) => response.once('close', resolve).destroy());
  expect(streams.isFull).toBe(false);
  streams.close();
});

test('a stream that is quiet shows that it is there, one that said something does not', () => {
  const streams = new EventStreams(1);
  const { response, said } = fakeResponse();
  const stream = streams.begin(response);
  stream.send('{}', 'a:1');
  stream.beat();
  expect(said()).toBe('event: message\nid: a:1\ndata: {}\n\n');
  stream.beat();
  expect(said()).toBe(': \n\n');
  stream.end();
  stream.send('late');
  streams.close();
});

test('a peer that takes nothing for four beats is given up, and one that takes it in between is not', () => {
  const streams = new EventStreams(1);
  const { response } = fakeResponse();
  let unread = 100;
  Object.defineProperty(response, 'writableLength', { get: () => unread });
  const stream = streams.begin(response);
  for (let beat = 0; beat < 3; beat += 1) stream.beat();
  unread = 0;
  stream.beat();
  unread = 100;
  for (let beat = 0; beat < 3; beat += 1) stream.beat();
  expect(response.destroyed).toBe(false);
  stream.beat();
  expect(response.destroyed).toBe(true);
  streams.close();
});

test('a peer that reads more slowly than it is told is cut before it costs more than it may', () => {
  const streams = new EventStreams(1);
  const { response } = fakeResponse();
  Object.defineProperty(response, 'writableLength', { get: () => 4 * 1024 * 1024 + 1 });
  const stream = streams.begin(response);
  stream.send('{}');
  expect(response.destroyed).toBe(true);
  streams.close();
});
