import fc from 'fast-check';

/** Property tests draw the same cases every time; `BRIDLE_SEED=random`, or a number, draws others. */
const { BRIDLE_SEED } = process.env;
if (BRIDLE_SEED !== 'random') fc.configureGlobal({ seed: Number(BRIDLE_SEED ?? 20261130) });
