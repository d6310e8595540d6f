import fc from 'fast-check';

/** Property tests draw the same cases every time; `BRIDLE_SEED=random`, or a number, draws others. */
const { BRIDLE_SEED } = process.env;
// Servers of tests start as slowly as the machine is busy; what waits for them less says so.
process.env.BRIDLE_READY_SECONDS ??= '600';
if (BRIDLE_SEED !== 'random') fc.configureGlobal({ seed: Number(BRIDLE_SEED ?? 20261130) });
