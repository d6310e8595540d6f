import type { Tool, ToolExecution, ToolOptions } from 'bridle';
import { defineTool } from 'bridle';
import { vi } from 'vitest';

export const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 60_000, interval: 10 });

const NONE = { type: 'object', properties: {} } as const;
type Handler = Parameters<typeof defineTool<typeof NONE>>[1];

export const made = (name: string, handler: Handler, execution?: ToolExecution): Tool => {
  const options: ToolOptions<typeof NONE> = { name, description: 'x', input: NONE, ...(execution && { execution }) };
  return defineTool(options, handler) as Tool;
};

/** Tools whose calls end when the test says so. */
export function taskTools() {
  const ends = new Map<string, { resolve(text: string): void; signal: AbortSignal }>();
  const starts: string[] = [];
  const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
  const waiting = (name: string, execution?: ToolExecution) =>
    made(
      name,
      (_, { signal }) =>
        new Promise<string>((resolve, reject) => {
          starts.push(name);
          ends.set(name, { resolve, signal });
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        }),
      execution,
    );
  const tools = [
    waiting('long', { taskSupport: 'optional' }),
    waiting('only', { taskSupport: 'required' }),
    made('at_once', () => 'Done at once.', { taskSupport: 'optional' }),
    made('plain', () => 'Plain.'),
    made(
      'fails',
      () => {
        throw new Error('It broke.');
      },
      { taskSupport: 'optional' },
    ),
    made(
      'asks',
      async (_, { ask, progress }) => {
        progress(1, 3, 'Asking.');
        const answer = await ask('Who?', NAME);
        return `Hello, ${answer.action === 'accept' ? answer.content.name : answer.action}!`;
      },
      { taskSupport: 'optional' },
    ),
    made('visits', async (_, { visit }) => (await visit('Pay.', 'https://example.com/pay')).action, {
      taskSupport: 'optional',
    }),
    made('folders', async (_, { roots }) => `${(await roots()).length}`, { taskSupport: 'optional' }),
    made(
      'asks_first',
      async (_, { ask, disconnect }) => {
        const answer = await ask('Who?', NAME, { key: 'who' });
        const name = answer.action === 'accept' ? answer.content.name : answer.action;
        if (name === 'nobody') return 'Nothing to do.';
        disconnect();
        const second = await ask('Which part?', NAME, { key: 'which' });
        return `${name} gets ${second.action === 'accept' ? second.content.name : second.action}.`;
      },
      { taskSupport: 'optional', taskStart: 'disconnect' },
    ),
  ];
  return { tools, starts, ends };
}
