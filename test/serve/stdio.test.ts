import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from 'bridle/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, isModern, KINDS, type TestClient } from './clients.ts';

const SCRIPT = fileURLToPath(new URL('./fixture-server.mjs', import.meta.url));

describe.each(KINDS)('over stdio, a %s client', (kind) => {
  let stdio: TestClient;
  beforeAll(async () => {
    stdio = await connect(kind, { script: SCRIPT });
  });
  afterAll(() => stdio.close());

  test('lists the tools with their schemas, and calls one', async () => {
    const [add] = await stdio.list();
    expect(add).toMatchObject({
      name: 'add',
      inputSchema: { type: 'object', required: ['a', 'b'] },
      outputSchema: { type: 'object', required: ['sum'] },
      annotations: { readOnlyHint: true },
    });
    expect((await stdio.call('add', { a: 2, b: 40 })).structuredContent).toEqual({ sum: 42 });
    if (isModern(kind)) expect(stdio.revision()).toBe('2026-07-28');
  });

  test('is not disturbed by what the program prints', async () => {
    expect(await stdio.call('noisy')).toMatchObject({ content: [{ type: 'text', text: 'quiet' }] });
    expect(await stdio.call('noisy')).toMatchObject({ content: [{ type: 'text', text: 'quiet' }] });
  });

  test('is told of failures, wrong arguments and unknown tools', async () => {
    const failed = await stdio.call('fails');
    expect(failed.isError).toBe(true);
    expect(JSON.parse((failed.content as { text: string }[])[0]?.text ?? '')).toMatchObject({
      description: 'The shelf is empty.',
      alternatives: ['try another shelf'],
      outcome: 'not_executed',
    });
    const wrong = await stdio.call('add', { a: 'two' });
    expect(wrong.isError).toBe(true);
    expect((wrong.content as { text: string }[])[0]?.text).toContain('"errorCategory":"validation"');
    await expect(stdio.call('nothing')).rejects.toMatchObject({ code: -32602 });
  });

  test('sees progress, and cancels', async () => {
    const seen: number[] = [];
    // A client's SDK forgets a call's progress handler with its result, so each step waits until it was seen.
    const onprogress = ({ progress }: { progress: number }) => {
      seen.push(progress);
      void stdio.call('next');
    };
    await stdio.call('counts', {}, { onprogress });
    expect(seen).toEqual([1, 2, 3]);
    const abort = new AbortController();
    const call = stdio.call('waits', {}, { signal: abort.signal });
    setImmediate(() => abort.abort());
    await expect(call).rejects.toThrow();
    expect((await stdio.call('add', { a: 1, b: 1 })).structuredContent).toEqual({ sum: 2 });
  });
});

interface Started {
  readonly child: ChildProcessWithoutNullStreams;
  send(message: JsonObject): void;
  stdout(): string;
  stderr(): string;
  /** Resolves when stderr has the text. */
  said(text: string): Promise<void>;
}

function start(...args: string[]): Started {
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: 'pipe' });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  return {
    child,
    send: (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    stdout: () => out,
    stderr: () => err,
    async said(text) {
      while (!err.includes(text)) await once(child.stderr, 'data');
    },
  };
}

const INITIALIZE = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

describe('a process that serves stdio', () => {
  test('ends with stdin, and cancels the call in flight', async () => {
    const server = start();
    server.send(INITIALIZE);
    server.send({ id: 2, method: 'tools/call', params: { name: 'waits', arguments: {} } });
    await server.said('waiting');
    const exited = once(server.child, 'exit');
    server.child.stdin.end();
    expect(await exited).toEqual([0, null]);
    expect(server.stderr()).toContain('aborted');
  });

  test('ends with stdin although a timer of the program would go on', async () => {
    const server = start('--linger');
    server.send(INITIALIZE);
    await server.said('serving');
    const exited = once(server.child, 'exit');
    server.child.stdin.end();
    expect(await exited).toEqual([0, null]);
  });

  test('ends when stdin was at its end before it began', async () => {
    const child = spawn(process.execPath, [SCRIPT, '--linger'], { stdio: ['ignore', 'ignore', 'ignore'] });
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('writes nothing but messages to stdout; what the program prints is on stderr', async () => {
    const server = start();
    server.send(INITIALIZE);
    server.send({ id: 2, method: 'tools/call', params: { name: 'noisy', arguments: {} } });
    while (!server.stdout().includes('"id":2')) await once(server.child.stdout, 'data');
    server.child.stdin.end();
    await once(server.child, 'exit');
    // What was printed before `serve` was called is beyond its reach, and is why a client tolerates noise.
    const [banner, ...messages] = server.stdout().trimEnd().split('\n');
    expect(banner).toBe('a banner that a library prints');
    expect(messages.map((line) => (JSON.parse(line) as JsonObject).id)).toEqual([1, 2]);
    expect(server.stderr()).toContain('forged');
    expect(server.stderr()).toContain('half a line');
  });

  test('says once that an author’s preview function is not served', async () => {
    const server = start();
    await server.said('serving');
    server.child.stdin.end();
    await once(server.child, 'exit');
    expect(server.stderr().match(/the preview function of add is not served/g)).toHaveLength(1);
  });

  test('tells the tool that its call was cancelled, and goes on', async () => {
    const server = start();
    server.send(INITIALIZE);
    server.send({ id: 2, method: 'tools/call', params: { name: 'waits', arguments: {} } });
    await server.said('waiting');
    server.send({ method: 'notifications/cancelled', params: { requestId: 2, reason: 'changed my mind' } });
    await server.said('aborted');
    server.send({ id: 3, method: 'tools/call', params: { name: 'add', arguments: { a: 1, b: 2 } } });
    while (!server.stdout().includes('"id":3')) await once(server.child.stdout, 'data');
    expect(server.stdout()).not.toContain('"id":2');
    server.child.stdin.end();
    await once(server.child, 'exit');
  });

  test('passes a result of five million characters whole', async () => {
    const server = start();
    server.send(INITIALIZE);
    server.send({ id: 2, method: 'tools/call', params: { name: 'big', arguments: {} } });
    while (server.stdout().split('\n').length < 4) await once(server.child.stdout, 'data');
    const line = server.stdout().split('\n')[2];
    const { result } = JSON.parse(line ?? '') as { result: { content: { text: string }[] } };
    expect(result.content[0]?.text).toHaveLength(5_000_000);
    server.child.stdin.end();
    await once(server.child, 'exit');
  });

  test('can be served again by the same process after the first handle was closed', async () => {
    const server = start('--again');
    await server.said('serving');
    server.send(INITIALIZE);
    while (!server.stdout().includes('"id":1')) await once(server.child.stdout, 'data');
    server.child.stdin.end();
    expect(await once(server.child, 'exit')).toEqual([0, null]);
  });

  test('answers garbage without ending', async () => {
    const server = start();
    server.child.stdin.write('this is not JSON\n');
    server.send(INITIALIZE);
    while (!server.stdout().includes('"id":1')) await once(server.child.stdout, 'data');
    server.child.stdin.end();
    expect(await once(server.child, 'exit')).toEqual([0, null]);
  });
});
