import { afterEach, expect, test, vi } from 'vitest';
import type { Destination, OtlpSettings } from './otlp-settings.ts';
import { readOtlpSettings } from './otlp-settings.ts';
import { otlpTelemetry } from './otlp-telemetry.ts';
import type { Poster } from './post.ts';

const who = { agent: 'tester', via: 'library' } as const;

type Said = Response | Promise<Response>;

/** What a receiver says to each request, in order; the last one again when they run out. */
function receiver(...answers: readonly (() => Said)[]) {
  const bodies: string[] = [];
  const closed: string[] = [];
  const poster = ({ url }: Destination): Poster => ({
    async post(body, signal) {
      bodies.push(body);
      const hung = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
      const answer = answers[Math.min(bodies.length, answers.length) - 1]?.() ?? new Response('{}');
      const { status, headers, text } = await Promise.race([answer, hung]).then(async (said) => ({
        status: said.status,
        headers: said.headers,
        text: await said.text(),
      }));
      return { status, retryAfter: headers.get('retry-after') ?? undefined, text };
    },
    close: () => void closed.push(url),
  });
  return { bodies, closed, poster };
}

function started(poster: (to: Destination) => Poster, more: Partial<OtlpSettings> = {}) {
  const problems: string[] = [];
  const settings = readOtlpSettings({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector.example/v1/traces',
  }) as OtlpSettings;
  const onProblem = (text: string) => void problems.push(text);
  const it = otlpTelemetry({ settings: { ...settings, ...more }, version: '1', onProblem, poster });
  const run = () =>
    it.recorder.run?.({ conversation: 'c', who, model: 'm', at: 1_700_000_000_123 })?.end('answered', {});
  return { ...it, problems, run };
}

const says =
  (status: number, body = '', headers: Record<string, string> = {}) =>
  () =>
    new Response(body, { status, headers });
const never = () => new Promise<never>(() => {});

afterEach(() => {
  vi.useRealTimers();
});

test('many spans go in requests of 512, and what is over the bound is dropped and counted', async () => {
  let open = () => {};
  const gate = new Promise<Response>((resolve) => {
    open = () => resolve(new Response('{}'));
  });
  const { bodies, poster } = receiver(() => gate, says(200, '{}'));
  const { run, close, problems } = started(poster);
  // 512 are on their way, 2,048 wait.
  for (let nth = 0; nth < 512 + 2_048 + 3; nth += 1) run();
  open();
  expect(await close()).toBe(3);
  const counts = bodies.map((body) => JSON.parse(body).resourceSpans[0].scopeSpans[0].spans.length);
  expect(counts).toEqual([512, 512, 512, 512, 512]);
  expect(problems).toEqual([]);
});

test('the end is not waited for longer than agreed, also where the receiver never answers', async () => {
  const { poster, closed } = receiver(never);
  const { run, close, problems } = started(poster, { closeMs: 20 });
  run();
  expect(await close()).toBe(1);
  expect(problems).toEqual([expect.stringContaining("it didn't answer before the end")]);
  expect(closed).toHaveLength(1);
});

test.each(['before', 'while'])('whoever stops %s it is waited for waits a second at most', async (when) => {
  vi.useFakeTimers();
  const { poster } = receiver(never);
  const { run, close } = started(poster, { closeMs: 600_000 });
  run();
  const stop = new AbortController();
  if (when === 'before') stop.abort();
  let lost: number | undefined;
  void close(stop.signal).then((count) => {
    lost = count;
  });
  if (when === 'while') {
    await vi.advanceTimersByTimeAsync(5_000);
    expect(lost).toBeUndefined();
    stop.abort();
  }
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lost).toBe(1);
});

test('reports of metrics do not pile up behind one that hangs, and the end is not waited for longer', async () => {
  vi.useFakeTimers();
  const { bodies, poster } = receiver(never);
  const both = readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example' }) as OtlpSettings;
  const { run, close, problems } = started(poster, { ...both, metricsEveryMs: 10, closeMs: 20 });
  run();
  await vi.advanceTimersByTimeAsync(45);
  const closed = close();
  await vi.advanceTimersByTimeAsync(30);
  await closed;
  expect(bodies.filter((body) => body.includes('resourceMetrics'))).toHaveLength(1);
  expect(problems).toHaveLength(1);
});

test('one receiver of both that is not there is told of once', async () => {
  const { poster } = receiver(says(404));
  const both = readOtlpSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example' }) as OtlpSettings;
  const { run, close, problems } = started(poster, both);
  run();
  await close();
  expect(problems).toHaveLength(1);
});

test('what may pass is tried again after the time that the receiver names, and then nothing is said', async () => {
  vi.useFakeTimers();
  const { bodies, poster } = receiver(says(503, '', { 'retry-after': '7' }), says(429), says(200));
  const { run, close, problems } = started(poster);
  run();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(bodies).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(6_999);
  expect(bodies).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(bodies).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(bodies).toHaveLength(3);
  expect(await close()).toBe(0);
  expect(problems).toEqual([]);
});

test.each([
  ['a refusal', says(400, 'words of the receiver'), 1, 'it answers 400'],
  ['an address elsewhere, to which no header goes', says(307, '', { location: 'http://eve.example' }), 1, '(307)'],
  [
    'a part left out',
    says(200, '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too \\u001b[31mbig"}}'),
    0,
    'too',
  ],
  ['a fault of the network', () => Promise.reject(new Error('ECONNREFUSED')), 1, 'ECONNREFUSED'],
])('%s is told once, and is not tried again at the end', async (_what, answer, lost, said) => {
  const { bodies, poster } = receiver(answer);
  const { run, close, problems } = started(poster);
  for (let nth = 0; nth < 512; nth += 1) run();
  run();
  expect(await close()).toBe(lost === 0 ? 0 : 513);
  expect(bodies).toHaveLength(2);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(said);
  expect(problems[0]).toContain('http://collector.example:');
  for (const foreign of ['words of the receiver', '\u001b']) expect(problems[0]).not.toContain(foreign);
});

test('times are whole nanoseconds, and text that is no Unicode can not spoil a request', async () => {
  const { bodies, poster } = receiver();
  const { recorder, close } = started(poster, { content: true });
  const run = recorder.run?.({ conversation: 'c\ud800', who, model: 'm', at: 1_700_000_000_123.25 });
  run?.event({ v: 1, at: 2, type: 'input', content: 'a\udfff🐎' });
  run?.end('answered', {});
  await close();
  expect(bodies.join()).toContain('"startTimeUnixNano":"1700000000123250000"');
  expect(bodies.join()).toContain('🐎');
  expect(bodies.join()).not.toMatch(/(?<!\\)\\ud[89a-f]/i);
});
