export interface Ensured<T> {
  readonly value: T;
  readonly did: 'found' | 'created' | 'updated';
}

export interface EnsureOptions<T> {
  /** The thing as it is now; undefined or null: there is none. */
  find(): Promise<T | undefined | null> | T | undefined | null;
  /** Makes it. Throws when somebody else was quicker. */
  create(): Promise<T> | T;
  /** Brings a thing that is there into the wanted state; absent: it is left as it is. */
  readonly update?: (found: T) => Promise<T> | T;
  /** Whether the thing is as wanted already, so that nothing is written. Default: never, when there is an `update`. */
  readonly isAsWanted?: (found: T) => boolean;
}

/**
 * "There shall be such a thing": finds it, or makes it, and says which. Safe to call twice, and safe beside others: a
 * `create` that fails because another call was quicker finds that call's thing.
 *
 * @throws what `create` threw, when there is still no such thing afterwards; what `find` and `update` throw
 */
export async function ensure<T>(options: EnsureOptions<T>): Promise<Ensured<T>> {
  const found = await options.find();
  if (found !== undefined && found !== null) return existing(options, found);
  try {
    return { value: await options.create(), did: 'created' };
  } catch (error) {
    const quicker = await options.find();
    if (quicker === undefined || quicker === null) throw error;
    return existing(options, quicker);
  }
}

async function existing<T>({ update, isAsWanted }: EnsureOptions<T>, found: T): Promise<Ensured<T>> {
  if (!update || isAsWanted?.(found) === true) return { value: found, did: 'found' };
  return { value: await update(found), did: 'updated' };
}
