import { expect, test } from 'vitest';
import { ensure } from './ensure.ts';

test('what is missing is made, and what is there is found', async () => {
  const users = new Map<string, number>();
  const user = () =>
    ensure({
      find: () => users.get('ann'),
      create: () => {
        users.set('ann', 1);
        return 1;
      },
    });
  expect(await user()).toEqual({ value: 1, did: 'created' });
  expect(await user()).toEqual({ value: 1, did: 'found' });
});

test('what is there is brought into the wanted state, unless it is as wanted', async () => {
  const update = (found: { size: number }) => ({ ...found, size: 2 });
  const of = (size: number) =>
    ensure({
      find: () => ({ size }),
      create: () => ({ size: 0 }),
      update,
      isAsWanted: (found) => found.size === 2,
    });
  expect(await of(1)).toEqual({ value: { size: 2 }, did: 'updated' });
  expect(await of(2)).toEqual({ value: { size: 2 }, did: 'found' });
});

test('somebody who was quicker is found', async () => {
  let there: string | null = null;
  const ensured = await ensure<string>({
    find: () => there,
    create: () => {
      there = 'theirs';
      throw new Error('UNIQUE constraint failed');
    },
  });
  expect(ensured).toEqual({ value: 'theirs', did: 'found' });
});

test('an error is passed on when there is no such thing afterwards', async () => {
  const create = () => {
    throw new Error('disk full');
  };
  await expect(ensure({ find: () => undefined, create })).rejects.toThrow('disk full');
});
