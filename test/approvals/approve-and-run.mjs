/**
 * One step of approve-and-run in a process of its own, which kills itself at a named point.
 *
 * Arguments: the compiled `dist`, the folder with the state, the step (call | approve | always), the point at which to
 * die (or `-`), and for `call` the order's number. Prints one line of JSON.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [dist, dir, step, point, order = 'O-1'] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(dist, path)).href);
const { openStore } = await load('store/index.js');
const { approvals } = await load('policy/approvals/index.js');
const { createDispatcher } = await load('dispatch/index.js');
const { rawFrom } = await load('tools/index.js');

function at(name) {
  if (name === point) process.kill(process.pid, 'SIGKILL');
}

/** Passes by a point before and after each write of a record. */
function watched(store) {
  return {
    ...store,
    table(name, versions) {
      const table = store.table(name, versions);
      return {
        ...table,
        async put(key, value, ifRev) {
          const what = `${name} ${value?.state}${value?.used?.outcome ? ' with outcome' : ''}`;
          at(`before ${what}`);
          const done = await table.put(key, value, ifRev);
          at(`after ${what}`);
          return done;
        },
      };
    },
  };
}

const store = watched(await openStore({ file: join(dir, 'state.db') }));
const inbox = approvals({ store, key: 'a key for tests, of enough bytes', place: '/project' });
const said = step === 'call' ? await call() : await decide();
await inbox.flush();
await store.close();
process.stdout.write(`${JSON.stringify(said)}\n`);

async function decide() {
  const [waiting] = await inbox.list({ state: 'waiting' });
  const approved = await inbox.approve(waiting.id, { by: 'ada', ...(step === 'always' && { always: true }) });
  return { id: approved.id, state: approved.state };
}

async function call() {
  const server = { key: 'shop', scope: 'user', fingerprint: 'f'.repeat(64), trustAnnotations: false };
  const ref = { server, tool: 'refund', name: 'mcp__shop__refund', fingerprint: 'd'.repeat(64) };
  const tool = { ref, description: '', inputSchema: { type: 'object' }, raw: rawFrom({}), effect: 'write' };
  const source = {
    server,
    list: async () => ({ tools: [tool], setAside: [] }),
    onChange: () => () => {},
    async call(_name, args) {
      at('before the effect');
      appendFileSync(join(dir, 'effects'), `${args.order}\n`);
      at('after the effect');
      return { kind: 'result', raw: rawFrom({ content: [] }), isError: false };
    },
  };
  const decision = { effect: 'ask', reasons: [], policyVersion: 'p1' };
  const asker = inbox.asker();
  const dispatcher = createDispatcher({
    find: (name) => (name === ref.name ? { tool, source } : undefined),
    policy: { view: () => ({ ...decision, effect: 'allow' }), decide: () => decision },
    asker: {
      async ask(question) {
        at('before the question');
        const reply = await asker.ask(question);
        at('after the answer');
        return reply;
      },
    },
    recorder: {
      async intent() {
        at('before the intent');
        appendFileSync(join(dir, 'intents'), `${order}\n`);
        at('after the intent');
      },
      outcome: () => at('the record'),
    },
  });
  const outcome = await dispatcher.call({
    name: ref.name,
    args: rawFrom({ order }),
    profile: 'agent',
    conversation: 'c1',
    ctx: {
      callId: `call-${process.pid}`,
      who: { agent: 'main', via: 'terminal' },
      signal: new AbortController().signal,
      idleMs: 600_000,
      hardMs: 600_000,
    },
  });
  return { kind: outcome.kind, approval: outcome.approval };
}
