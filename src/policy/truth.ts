/**
 * What a condition comes to. `unknown`: it looks at something that isn't there or can't be compared. `open`: it looks
 * at something that only a call will tell, and the question is about the tool.
 */
export type Truth = 'yes' | 'no' | 'unknown' | 'open';

/** Kleene's logic, with `open` before `unknown`: whatever isn't open stays as it is, whatever a call brings. */
export function allOf(truths: Iterable<Truth>): Truth {
  let result: Truth = 'yes';
  for (const truth of truths) {
    if (truth === 'no') return 'no';
    if (truth === 'open' || (truth === 'unknown' && result === 'yes')) result = truth;
  }
  return result;
}

export function notOf(truth: Truth): Truth {
  if (truth === 'yes') return 'no';
  return truth === 'no' ? 'yes' : truth;
}

export function anyOf(truths: Iterable<Truth>): Truth {
  return notOf(allOf([...truths].map(notOf)));
}

/** For several values where the rule speaks of one: certain only where all agree. */
export function agreed(truths: readonly Truth[]): Truth {
  const first = truths[0];
  return first !== undefined && truths.every((truth) => truth === first) ? first : 'unknown';
}

export function truthOf(holds: boolean): Truth {
  return holds ? 'yes' : 'no';
}
