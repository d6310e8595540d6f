import type { ToolHost } from '../../contracts/index.ts';
import { type Answers, answersFor } from './answers.ts';
import { type Changes, changesOf } from './changes.ts';
import { type Service, serviceOf } from './service.ts';

/** A host as all its clients share it, over whatever they come. */
export interface Served {
  readonly service: Service;
  readonly answers: Answers;
  readonly changes: Changes;
}

export function servedBy(host: ToolHost): Served {
  const service = serviceOf(host);
  return { service, answers: answersFor(service), changes: changesOf(host) };
}
