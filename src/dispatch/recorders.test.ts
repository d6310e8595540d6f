import { describe, expect, test } from 'vitest';
import type { HookRecord, LoopEvent, QuestionRecord, Recorder } from '../contracts/index.ts';
import { allRecorders, memoryRecorder, nullRecorder } from './recorders.ts';

const QUESTION: QuestionRecord = {
  callId: 'c1',
  conversation: 'talk',
  server: 'shop',
  tool: 'refund',
  request: { method: 'elicitation/create' },
  ms: 3,
};
const RUN = { conversation: 'talk', who: { agent: 'main', via: 'library' }, model: 'offline', at: 1 } as const;
const INPUT: LoopEvent = { v: 1, at: 2, type: 'input', content: 'Hello' };

const broken = (): never => {
  throw new Error('The recorder broke.');
};

describe('several recorders as one', () => {
  test('are each told of a question that a server asked, whatever the others do', () => {
    const told: QuestionRecord[] = [];
    const all = allRecorders(
      { ...nullRecorder(), question: broken },
      memoryRecorder(),
      { ...nullRecorder(), question: (question) => void told.push(question) },
      undefined,
    );
    all.question?.(QUESTION);
    expect(told).toEqual([QUESTION]);
  });

  test('are each told how a hook went, whatever the others do', () => {
    const told: HookRecord[] = [];
    const keeping: Recorder = { ...nullRecorder(), hook: (hook) => void told.push(hook) };
    const record: HookRecord = { conversation: 'talk', event: 'SessionStart', hook: 'greet', ms: 1 };
    allRecorders({ ...nullRecorder(), hook: broken }, memoryRecorder(), keeping).hook?.(record);
    expect(told).toEqual([record]);
  });

  test('each follow a run to its end, whatever the others do', () => {
    const told: unknown[] = [];
    const follower: Recorder = {
      ...nullRecorder(),
      run(record) {
        told.push(record);
        return { event: (event) => void told.push(event), end: (how) => void told.push(how) };
      },
    };
    const breaking: Recorder = { ...nullRecorder(), run: () => ({ event: broken, end: broken }) };
    const run = allRecorders(breaking, { ...nullRecorder(), run: broken }, memoryRecorder(), follower).run?.(RUN);
    run?.event(INPUT);
    run?.end('answered', {});
    expect(told).toEqual([RUN, INPUT, 'answered']);
  });
});
