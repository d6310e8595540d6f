import { expect, test } from 'vitest';
import { rawFrom } from '../tools/index.ts';
import { serverLog, serverLogLevel } from './server-log.ts';
import { styleFor } from './style.ts';

const parsed = (values: Record<string, string | boolean>) => ({
  positionals: [],
  options: new Map(Object.entries(values)),
});

test('log messages of a server are shown from a level on, on one clean line with its key', () => {
  const lines: string[] = [];
  const show = serverLog('shop', 'warning', styleFor({ isTTY: false }, {}), (line) => lines.push(line));
  show('notifications/message', rawFrom({ level: 'info', data: 'quiet' }));
  show('notifications/message', rawFrom({ level: 'error', logger: 'db', data: 'gone\u001b[2J\nnow' }));
  show('notifications/message', rawFrom({ level: 'odd', data: 'x' }));
  show('notifications/message', rawFrom({ level: 'warning', data: { disk: 'full' } }));
  show('notifications/progress', rawFrom({ progress: 1 }));
  expect(lines).toEqual(['[log] shop error db: gone now\n', '[log] shop warning: {"disk":"full"}\n']);
});

test('a log without end is cut, and said to be', () => {
  const lines: string[] = [];
  const show = serverLog('shop', 'debug', styleFor({ isTTY: false }, {}), (line) => lines.push(line));
  for (let n = 0; n < 1_500; n += 1) show('notifications/message', rawFrom({ level: 'info', data: n }));
  expect(lines).toHaveLength(1_001);
  expect(lines.at(-1)).toContain('no more');
});

test('the level is one of the known ones, or off; --quiet shows none unless it is said', () => {
  expect(serverLogLevel(parsed({}))).toEqual({ shown: 'warning' });
  expect(serverLogLevel(parsed({ quiet: true }))).toEqual({ shown: null });
  expect(serverLogLevel(parsed({ quiet: true, 'server-log-level': 'info' }))).toEqual({ asked: 'info', shown: 'info' });
  expect(serverLogLevel(parsed({ 'server-log-level': 'off' }))).toEqual({ shown: null });
  expect(serverLogLevel(parsed({}), 'debug')).toEqual({ asked: 'debug', shown: 'debug' });
  expect(serverLogLevel(parsed({ quiet: true }), 'debug')).toEqual({ shown: null });
  expect(serverLogLevel(parsed({ 'server-log-level': 'error' }), 'off')).toEqual({ asked: 'error', shown: 'error' });
  expect(serverLogLevel(parsed({}), 'off')).toEqual({ shown: null });
  expect(() => serverLogLevel(parsed({ 'server-log-level': 'loud' }))).toThrow("There is no log level 'loud'");
});
