import type { ToolHost } from '../../contracts/index.ts';
import { type Answers, answersFor } from './answers.ts';
import { type Changes, changesOf } from './changes.ts';
import { type Service, serviceOf } from './service.ts';
import { type Tasks, tasksOf } from './tasks.ts';

/** A host as all its clients share it, over whatever they come. */
export interface Served {
  readonly service: Service;
  readonly answers: Answers;
  readonly changes: Changes;
  readonly tasks: Tasks;
  /** Ends what goes on without a client. */
  close(): void;
}

export function servedBy(host: ToolHost): Served {
  const service = serviceOf(host);
  const tasks = tasksOf(host);
  const changes = changesOf(host);
  return {
    service,
    answers: answersFor(service, tasks),
    changes,
    tasks,
    close() {
      tasks.close();
      changes.close();
    },
  };
}
