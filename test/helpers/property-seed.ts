/**
 * The seed of a property test that counts what it plays: the same each time, so that a run that passed passes again.
 * `BRIDLE_PROPERTY_SEED`, or `BRIDLE_SEED` as for every other property test, gives another, `random` one of its own.
 */
export function propertySeed(): number {
  const { BRIDLE_PROPERTY_SEED, BRIDLE_SEED } = process.env;
  const said = BRIDLE_PROPERTY_SEED ?? BRIDLE_SEED ?? '20261130';
  return said === 'random' ? Date.now() % 2 ** 31 : Number(said);
}
