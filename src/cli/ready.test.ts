import { describe, expect, test } from 'vitest';
import type { SourceReadiness } from '../catalog/index.ts';
import type { ParsedCommand } from './command.ts';
import { exitCodeOfError } from './exit-code.ts';
import { cutShort, readyMs, requireServers, stillStarting } from './ready.ts';

const given = (options: Record<string, string | boolean>): ParsedCommand => ({
  positionals: [],
  options: new Map(Object.entries(options)),
});
const readiness = (key: string, state: SourceReadiness['state'], text?: string): SourceReadiness => ({
  server: { key, scope: 'project', fingerprint: key, trustAnnotations: false },
  state,
  since: 1,
  ...(text !== undefined && { problem: { room: 'catalog', code: 'source_not_listed', text } }),
});

test('servers are waited for 5 seconds, or as long as the environment or the command line says', () => {
  expect(readyMs(given({}), { env: {} })).toBe(5_000);
  expect(readyMs(given({}), { env: { BRIDLE_READY_SECONDS: '0.5' } })).toBe(500);
  expect(readyMs(given({ 'ready-seconds': '60' }), { env: { BRIDLE_READY_SECONDS: '1' } })).toBe(60_000);
  expect(() => readyMs(given({}), { env: { BRIDLE_READY_SECONDS: 'soon' } })).toThrow(/BRIDLE_READY_SECONDS is 'soon'/);
});

describe('--require-servers', () => {
  const all = [
    readiness('a', 'ready'),
    readiness('slow', 'waiting'),
    readiness('dead', 'failed', 'Server "dead" is dead.'),
  ];
  const left = [
    { key: 'off', reasons: [{ room: 'host', code: 'disabled', text: 'It is disabled.' }] },
    { key: 'odd', reasons: [{ room: 'host', code: 'entry_invalid', text: 'Its entry makes no sense.' }] },
  ] as unknown as Parameters<typeof requireServers>[2];

  test('names each server that is not ready, and why; those that were disabled are not asked for', () => {
    let thrown: unknown;
    try {
      requireServers(given({ 'require-servers': true }), all, left);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'servers_not_ready' });
    const { message } = thrown as Error;
    expect(message).toContain('3 servers are not ready');
    expect(message).toMatch(/"slow" is still starting[\s\S]*"dead" is dead[\s\S]*"odd" is not started: Its entry/);
    expect(message).not.toContain('"off"');
    expect(exitCodeOfError('servers_not_ready')).toBe(8);
  });

  test('is content where all are ready, and without it nothing is required', () => {
    expect(() => requireServers(given({ 'require-servers': true }), [readiness('a', 'ready')], [])).not.toThrow();
    expect(() => requireServers(given({}), all, left)).not.toThrow();
  });
});

test('a server that is still starting is a warning that names it', () => {
  const warnings = stillStarting([readiness('a', 'ready'), readiness('slow', 'waiting'), readiness('dead', 'failed')]);
  expect(warnings.map(({ text }) => text)).toEqual([expect.stringContaining('"slow" is still starting')]);
});

test('a wait is cut short once, and only while it goes on', () => {
  const wait = cutShort();
  expect(wait.interrupt()).toBe(false);
  wait.begin();
  expect(wait.interrupt()).toBe(true);
  expect(wait.enough.aborted).toBe(true);
  expect(wait.interrupt()).toBe(false);
  const over = cutShort();
  over.begin();
  over.over();
  expect(over.interrupt()).toBe(false);
});
