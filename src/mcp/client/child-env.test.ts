import { expect, test } from 'vitest';
import { childEnvironment } from './child-env.ts';

test('a child gets what it needs to find itself, and no key', () => {
  const own = {
    PATH: '/bin',
    HOME: '/home/ada',
    LC_ALL: 'C',
    ANTHROPIC_API_KEY: 'a',
    OPENAI_API_KEY: 'b',
    AWS_PROFILE: 'c',
  };
  expect(childEnvironment(own)).toEqual({ PATH: '/bin', HOME: '/home/ada', LC_ALL: 'C' });
});

test('what the entry names wins, a key among it', () => {
  const own = { PATH: '/bin', ANTHROPIC_API_KEY: 'mine' };
  const entry = { PATH: '/opt/bin', ANTHROPIC_API_KEY: 'given' };
  expect(childEnvironment(own, entry)).toEqual(entry);
});

test('an exported shell function is not passed on', () => {
  expect(childEnvironment({ SHELL: '() { :; }; echo', TERM: 'xterm' })).toEqual({ TERM: 'xterm' });
});
