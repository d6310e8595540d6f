import { expect, test } from 'vitest';
import { EventLog, readEventId } from './event-log.ts';
import { EventStream } from './event-stream.ts';
import { fakeResponse } from './fixtures.ts';

function connection() {
  const { response, said } = fakeResponse();
  const stream = new EventStream(response);
  const numbers = () => [...said().matchAll(/message\nid: log:(\d+)/g)].map(([, number]) => Number(number));
  const leave = () => new Promise((resolve) => response.once('close', resolve).destroy());
  return { stream, numbers, said, leave };
}

const logOf = (...messages: readonly string[]) => {
  const log = new EventLog('log', { primes: false });
  for (const message of messages) log.send(message);
  return log;
};

test('what was said to nobody is told to the first who comes, and to nobody else', () => {
  const log = logOf('1', '2');
  const [first, second] = [connection(), connection()];
  log.attach(first.stream);
  expect(first.numbers()).toEqual([1, 2]);
  log.attach(second.stream);
  expect(second.numbers()).toEqual([]);
});

test('who names what it saw last is told all that came after it', () => {
  const log = logOf('1', '2', '3');
  log.attach(connection().stream);
  const back = connection();
  log.attach(back.stream, 1);
  expect(back.numbers()).toEqual([2, 3]);
});

test('each message goes to one connection, the newest that is open', async () => {
  const log = logOf();
  const [first, second, third] = [connection(), connection(), connection()];
  for (const { stream } of [first, second, third]) log.attach(stream);
  log.send('1');
  await second.leave();
  await third.leave();
  log.send('2');
  expect([first.numbers(), second.numbers(), third.numbers()]).toEqual([[2], [], [1]]);
  await first.leave();
  expect(log.isAttached).toBe(false);
});

test('the last messages are kept, by number and by length, and always the very last', () => {
  const many = logOf(...Array.from({ length: 300 }, () => 'x'));
  const long = logOf('a'.repeat(700_000), 'b'.repeat(700_000), 'c'.repeat(5_000_000));
  const [first, second] = [connection(), connection()];
  many.attach(first.stream, 0);
  long.attach(second.stream, 0);
  expect(first.numbers()).toEqual(Array.from({ length: 256 }, (_, at) => at + 45));
  expect(second.numbers()).toEqual([3]);
});

test('one that ended while nobody was there is done once somebody had it, and ends every connection', () => {
  const log = logOf('1');
  log.end();
  expect(log.isDone).toBe(false);
  const late = connection();
  log.attach(late.stream, 0);
  expect(late.numbers()).toEqual([1]);
  expect([log.isDone, late.stream.isOpen]).toEqual([true, false]);
  const two = logOf();
  const both = [connection(), connection()];
  for (const { stream } of both) two.attach(stream);
  two.end();
  expect(both.map(({ stream }) => stream.isOpen)).toEqual([false, false]);
});

test('a connection begins with the place it may come back to, where its revision knows that', () => {
  const log = new EventLog('log', { primes: true });
  log.send('1');
  const [first, back] = [connection(), connection()];
  log.attach(first.stream);
  expect(first.said()).toMatch(/^id: log:0\nretry: \d+\ndata: \n\nevent: message\nid: log:1\n/);
  log.attach(back.stream, 1);
  expect(back.said()).toMatch(/^id: log:1\nretry: \d+\ndata: \n\n$/);
});

test('an event id that is none of ours is not read', () => {
  expect(readEventId('a-1:12')).toEqual({ name: 'a-1', number: 12 });
  for (const id of [
    '',
    'a',
    'a:',
    ':1',
    'a:b',
    'a:1:2',
    'a:-1',
    'a:1e3',
    `a:${'9'.repeat(16)}`,
    `${'a'.repeat(65)}:1`,
    'a b:1',
  ])
    expect(readEventId(id), id).toBeNull();
});
