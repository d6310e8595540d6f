import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newPlace, type Place, TASK, TOOL, type World } from './killed-run.ts';

/** A process starts late on a busy machine, and each step takes two of them. */
const LONG = 600_000;
const RUN = ['run', TASK, '--trust-project', '--park', '--quiet'];
/** For the runs after a yes was used: the question is not what keeps the act from running again. */
const ALLOWED = [...RUN, '--allow', TOOL];

let place: Place;
/** States of a person whose question waits, and who has said yes to it. */
let waiting: string;
let approved: string;

beforeAll(async () => {
  place = await newPlace();
  waiting = await place.state();
  expect((await place.run(waiting, RUN)).status).toBe(9);
  approved = await place.state(waiting);
  expect((await place.run(approved, await approve(approved))).status).toBe(0);
}, LONG);
afterAll(() => place.remove());

/** The command that says yes to the one question there is. */
async function approve(state: string): Promise<readonly string[]> {
  const [asked] = (await place.world(state)).approvals as readonly { readonly id: string }[] & World['approvals'];
  return ['approvals', 'approve', asked?.id ?? ''];
}

/** What holds of a world at any time, wherever a process died before. */
function agrees({ effects, approvals, ledger, audit, verified }: World): void {
  expect(verified).toMatchObject({ status: 0, problems: [] });
  expect(effects.length).toBeLessThanOrEqual(1);
  expect(approvals).toHaveLength(1);
  const [{ state, used } = { state: '', used: undefined }] = approvals;
  const ran = audit.filter(({ outcome, isEarlier }) => (outcome === 'ok' || outcome === 'unknown') && !isEarlier);
  // What took effect was decided, taken, claimed and written down before; what has an end took effect.
  if (effects.length === 1) {
    expect({ state, ledger: ledger.length, audited: ran.length }).toEqual({ state: 'used', ledger: 1, audited: 1 });
  }
  if (state === 'used') expect(ran).toHaveLength(1);
  const isSaidDone =
    used?.outcome?.kind === 'ok' || ledger.includes('done') || audit.some((each) => each.outcome === 'ok');
  if (isSaidDone) expect(effects).toEqual(['O-7']);
}

/** A run of the approved call that dies at the step, and the one after it. */
async function diedAt(step: string, args: readonly string[]) {
  const state = await place.state(approved);
  expect((await place.run(state, RUN, step)).status, `the run ended before it came to: ${step}`).toBeNull();
  const found = await place.world(state);
  agrees(found);
  expect(found.approvals[0]?.decisions).toMatchObject([{ answer: 'approve' }]);
  const next = await place.run(state, args);
  const world = await place.world(state);
  agrees(world);
  return { found, next, world };
}

const parked = { outcome: 'parked' };
const unended = { outcome: 'unknown' };
const notRepeated = { outcome: 'failed', executed: 'unknown', isEarlier: true };

describe('the command line is killed at a step of a call that was approved, and started again', () => {
  test('the steps are those of a run that nothing disturbs', { timeout: LONG }, async () => {
    const state = await place.state(approved);
    const { status, stdout } = await place.run(state, RUN);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Paid order O-7.\n' });
    // Each leaves the process only once what has to be known before it is written down.
    const steps = await place.steps();
    const order = [
      'after idempotency running',
      'before audit intent',
      'after audit intent',
      'before approvals used',
      'after approvals used',
      'before the call is sent',
      'before idempotency done',
    ];
    expect(steps.filter((step) => order.includes(step))).toEqual(order);
    const world = await place.world(state);
    agrees(world);
    expect(world).toMatchObject({ effects: ['O-7'], ledger: ['done'], audit: [parked, { outcome: 'ok' }] });
  });

  test.each([['before trace intent'], ['before idempotency running']])(
    '%s: nothing ran, the yes is still there, and the next run uses it',
    { timeout: LONG },
    async (step) => {
      const { found, next, world } = await diedAt(step, RUN);
      expect(found).toMatchObject({ effects: [], ledger: [], approvals: [{ state: 'approved' }], audit: [parked] });
      expect(next).toMatchObject({ status: 0, stdout: 'Paid order O-7.\n' });
      expect(world).toMatchObject({
        effects: ['O-7'],
        ledger: ['done'],
        approvals: [{ state: 'used', used: { outcome: { kind: 'ok' } } }],
        audit: [parked, { outcome: 'ok', isEarlier: false }],
      });
    },
  );

  test.each([
    ['after idempotency running', []],
    ['half audit intent', []],
    ['after audit intent', [unended]],
    ['before approvals used', [unended]],
  ])(
    '%s: nothing ran, the yes is still there, and the act, which somebody began, is said to be unknown',
    { timeout: LONG },
    async (step, intents) => {
      const { found, next, world } = await diedAt(step, RUN);
      expect(found).toMatchObject({ effects: [], ledger: ['running'], audit: [parked, ...intents] });
      expect(found.verified.torn > 0).toBe(step.startsWith('half'));
      expect(next.stdout).toContain('whether it took effect is not known');
      expect(world).toMatchObject({
        effects: [],
        approvals: [{ state: 'approved' }],
        audit: [parked, ...intents, notRepeated],
      });
    },
  );

  test.each([
    ['after approvals used', [0]],
    ['before the call is sent', [0]],
    ['after the call is sent', [0, 1]],
    ['before the effect', [0]],
    ['after the effect', [1]],
    ['before idempotency done', [1]],
  ])(
    '%s: the yes is used up, nothing runs twice, and what is not known says so',
    { timeout: LONG },
    async (step, ran) => {
      const { found, next, world } = await diedAt(step, ALLOWED);
      expect(ran).toContain(found.effects.length);
      expect(found).toMatchObject({ ledger: ['running'], approvals: [{ state: 'used' }], audit: [parked, unended] });
      expect(found.approvals[0]?.used).not.toHaveProperty('outcome');
      expect(next.stdout).toContain('whether it took effect is not known');
      expect(world).toMatchObject({ effects: found.effects, audit: [parked, unended, notRepeated] });
    },
  );

  test.each([
    ['after idempotency done', false, ['unknown']],
    ['before approvals used with outcome', false, ['unknown', 'ok']],
    ['after approvals used with outcome', true, ['unknown', 'ok']],
    ['half audit end', undefined, ['unknown']],
    ['after audit end', undefined, ['ok']],
  ])(
    '%s: it ran, and a later call of the same act is given how it ended',
    { timeout: LONG },
    async (step, isTold, ends) => {
      const { found, next, world } = await diedAt(step, ALLOWED);
      expect(found).toMatchObject({ effects: ['O-7'], ledger: ['done'], approvals: [{ state: 'used' }] });
      if (isTold !== undefined) expect(found.approvals[0]?.used?.outcome !== undefined).toBe(isTold);
      expect(ends).toContain(found.audit[1]?.outcome);
      expect(found.verified.torn > 0).toBe(step.startsWith('half'));
      expect(next).toMatchObject({ status: 0, stdout: 'Paid order O-7.\n' });
      expect(world.effects).toEqual(['O-7']);
      expect(world.audit.slice(2)).toMatchObject([{ outcome: 'ok', isEarlier: true }]);
    },
  );

  test('after the effect, without a rule: the call is asked about anew, and does not run', {
    timeout: LONG,
  }, async () => {
    const state = await place.state(approved);
    await place.run(state, RUN, 'after the effect');
    expect((await place.run(state, RUN)).status).toBe(9);
    const { effects, approvals, verified } = await place.world(state);
    expect({ effects, states: approvals.map((each) => each.state), status: verified.status }).toEqual({
      effects: ['O-7'],
      states: ['used', 'waiting'],
      status: 0,
    });
  });
});

describe('the command line is killed while a question is put or answered, and started again', () => {
  test.each([
    ['before approvals waiting', 0],
    ['after approvals waiting', 1],
  ])('%s: nothing ran, and the question waits once', { timeout: LONG }, async (step, kept) => {
    const state = await place.state();
    expect((await place.run(state, RUN, step)).status).toBeNull();
    expect((await place.world(state)).approvals).toHaveLength(kept);
    expect((await place.run(state, RUN)).status).toBe(9);
    const world = await place.world(state);
    agrees(world);
    expect(world).toMatchObject({ effects: [], ledger: [], approvals: [{ state: 'waiting' }], audit: [parked] });
  });

  test.each([
    ['before approvals approved', 'waiting', 9, []],
    ['after approvals approved', 'approved', 0, ['O-7']],
  ])('%s: what was decided counts, and nothing else', { timeout: LONG }, async (step, kept, status, effects) => {
    const state = await place.state(waiting);
    expect((await place.run(state, await approve(state), step)).status).toBeNull();
    expect((await place.world(state)).approvals).toMatchObject([{ state: kept }]);
    expect((await place.run(state, RUN)).status).toBe(status);
    const world = await place.world(state);
    agrees(world);
    expect(world.effects).toEqual(effects);
  });
});
