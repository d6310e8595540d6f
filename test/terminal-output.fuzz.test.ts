/**
 * Nothing that comes from outside drives the terminal, turns or hides text there: definitions, names, arguments, facts,
 * results, reasons and questions are shown without controls, bidi and zero-width characters. Ten thousand cases in all;
 * `BRIDLE_FUZZ=100000` runs so many of each kind.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCatalog } from '../src/catalog/index.ts';
import { alwaysLine, approvalLine, approvalText } from '../src/cli/approval-text.ts';
import { auditRow, auditShown } from '../src/cli/audit-text.ts';
import { originLines } from '../src/cli/origin-lines.ts';
import { serverLog } from '../src/cli/server-log.ts';
import { stepPrinter } from '../src/cli/steps.ts';
import { styleFor } from '../src/cli/style.ts';
import { reasonLine } from '../src/cli/workspace.ts';
import type {
  AskQuestion,
  Decision,
  Json,
  Outcome,
  Reason,
  ServerRef,
  ToolDefinition,
} from '../src/contracts/index.ts';
import { createTrace } from '../src/dispatch/index.ts';
import { type Prompter, serverRequests, terminalAsker } from '../src/host/index.ts';
import { type AuditRow, allowAll, approvals } from '../src/policy/index.ts';
import { memoryStore, openStore } from '../src/store/index.ts';
import { definitionFromMcp, rawFrom } from '../src/tools/index.ts';
import { type Person, person } from './helpers/cli-process.ts';
import { expectSeen, hostileJson, hostileObject, hostileText, hostileTool } from './helpers/hostile-text.ts';
import { bridle } from './helpers/terminal.ts';

const RUNS = Number(process.env.BRIDLE_FUZZ ?? 1_600);
const WAIT = 600_000;
const KEY = 'a key for tests, of enough bytes';
const PLAIN = styleFor({ isTTY: false }, {});

const serverRef = fc.record({ key: hostileText, fingerprint: fc.constant('f'), trustAnnotations: fc.constant(false) });
const tool = fc.tuple(serverRef, hostileTool).map(([ref, entry]): ToolDefinition => {
  const server: ServerRef = { ...ref, scope: 'project' };
  const read = definitionFromMcp(server, rawFrom(entry));
  return 'tool' in read ? read.tool : unnamed(server);
});
const unnamed = (server: ServerRef): ToolDefinition => ({
  ref: { server, tool: 'x', name: 'x', fingerprint: 'x' },
  description: '',
  inputSchema: { type: 'object' },
  raw: rawFrom({}),
  effect: 'write',
});
const reason: fc.Arbitrary<Reason> = fc
  .tuple(hostileText, hostileText, hostileText)
  .map(([code, text, file]) => ({ room: 'policy', code, text, source: { file, line: 3 } }));
const decision: fc.Arbitrary<Decision> = reason.map((each) => ({ effect: 'ask', reasons: [each], policyVersion: 'p' }));
const who = fc.tuple(hostileText, hostileText).map(([agent, user]) => ({ agent, user, via: 'terminal' }) as const);
const question: fc.Arbitrary<AskQuestion> = fc
  .tuple(hostileText, who, tool, hostileObject, decision, hostileJson)
  .map(([callId, whose, of, args, decided, facts]) => ({
    callId,
    who: whose,
    tool: of,
    args,
    decision: decided,
    facts,
    signal: new AbortController().signal,
  }));
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  hostileJson.map((content): Outcome => ({ kind: 'ok', raw: rawFrom({ content }), isError: false })),
  hostileText.map(
    (text): Outcome => ({ kind: 'ok', raw: rawFrom({ content: [{ type: 'text', text }] }), isError: true }),
  ),
  reason.map((each): Outcome => ({ kind: 'denied', reasons: [each] })),
  hostileText.map(
    (message): Outcome => ({
      kind: 'failed',
      failure: { category: 'transient', retryable: false, executed: 'unknown', attempts: [], message },
    }),
  ),
);

function every<T>(arbitrary: fc.Arbitrary<T>, show: (value: T) => Promise<string> | string) {
  return fc.assert(
    fc.asyncProperty(arbitrary, async (value) => expectSeen(await show(value))),
    { numRuns: RUNS },
  );
}

/** A person whose every answer is the same; keeps what they were shown. */
function personWho(answers: readonly string[]) {
  const shown: string[] = [];
  const left = [...answers];
  const prompter: Prompter = {
    write: (text) => shown.push(text),
    async ask(prompt) {
      shown.push(prompt);
      return left.shift();
    },
    alone: (work) => work(),
  };
  return { prompter, text: () => shown.join('') };
}

describe('is shown without what is not seen:', () => {
  test(
    'a question before a call, with what is said to "always"',
    () =>
      every(fc.tuple(question, hostileText), async ([asked, words]) => {
        const { prompter, text } = personWho(['a', 'p', 'n no']);
        await terminalAsker({
          prompter,
          always: () => ({ why: words }),
          alwaysHere: async () => ({ why: words }),
        }).ask(asked);
        return text();
      }),
    WAIT,
  );

  test(
    "a server's question in the middle of a call",
    () => {
      const property = fc.record(
        {
          type: fc.constantFrom('string', 'number', 'boolean', 'odd'),
          title: hostileText,
          description: hostileText,
          default: hostileText,
          enum: fc.array(hostileText, { minLength: 1, maxLength: 3 }),
        },
        { requiredKeys: ['type'] },
      );
      const requestedSchema = fc.record({
        type: fc.constant('object'),
        properties: fc.dictionary(hostileText, property, { maxKeys: 3 }),
      });
      const form = fc.record({ message: hostileText, requestedSchema });
      const url = fc.record({
        mode: fc.constant('url'),
        message: hostileText,
        elicitationId: hostileText,
        url: fc.oneof(
          hostileText,
          hostileText.map((text) => `https://example.org/${text}`),
        ),
      });
      return every(fc.tuple(fc.oneof(form, url), tool), async ([params, { ref }]) => {
        const { prompter, text } = personWho(['1', 'x', '', '1', 'y', 'y']);
        const notes: string[] = [];
        const input = serverRequests({ root: '/p', prompter, note: (line) => notes.push(line) });
        const { signal } = new AbortController();
        const from = { callId: 'c1', server: ref.server, tool: ref.tool, signal };
        await input(rawFrom({ method: 'elicitation/create', params } as Json), from);
        return text() + notes.join('');
      });
    },
    WAIT,
  );

  test(
    'an approval, on a line and whole, and what is allowed always',
    () =>
      every(fc.tuple(question, hostileText, hostileText), async ([asked, by, words]) => {
        const inbox = approvals({ store: memoryStore(), key: KEY, ownCalls: true });
        await inbox.asker().ask(asked);
        const [first] = await inbox.list();
        if (!first) throw new Error('It was not parked.');
        await inbox.deny(first.id, { by, reason: words });
        const always = await inbox.allowAlways(asked, { by, when: { '/x': words } });
        const denied = await inbox.show(first.id);
        return [approvalText(first), approvalLine(first), approvalText(denied), alwaysLine(always)].join('\n');
      }),
    WAIT,
  );

  test(
    'a call in the audit',
    () =>
      every(fc.tuple(question, hostileText, hostileText, hostileObject), ([asked, name, words, origins]) => {
        const row = {
          writer: 'w',
          seq: 1,
          at: 0,
          call: {
            id: asked.callId,
            who: asked.who,
            name,
            ref: asked.tool.ref,
            args: asked.args,
            facts: asked.facts,
            origins: Object.fromEntries(Object.keys(origins).map((key) => [key, { from: words }])),
            labels: [words],
            decision: asked.decision,
            asked: { answer: 'deny', by: name, reason: words },
          },
          end: { at: 1, ms: 1, attempts: 1, outcome: words, isError: false, reasons: [words], category: words },
        } as unknown as AuditRow;
        return `${auditRow(row)}\n${auditShown(row)}`;
      }),
    WAIT,
  );

  test(
    'a step of a run: what the model says, the call, how it was decided and how it ended, a log message',
    () =>
      every(fc.tuple(question, outcome, hostileText, hostileJson), ([asked, ended, words, value]) => {
        const lines: string[] = [];
        const { onProgress, recorder } = stepPrinter((text) => lines.push(text), PLAIN);
        const { callId, args } = asked;
        onProgress({ type: 'message', message: { content: [{ type: 'text', text: words }] }, stopReason: 'tool_use' });
        onProgress({ type: 'call', callId, name: words, args });
        onProgress({ type: 'progress', callId, kind: 'progress', raw: rawFrom({ progress: 1, message: value }) });
        recorder.outcome({
          callId,
          conversation: 'c',
          who: asked.who,
          name: words,
          args,
          decision: asked.decision,
          asked: { answer: 'allow', by: words },
          startedAt: 0,
          ms: 1,
          attempts: 1,
          outcome: ended,
        });
        lines.push(
          ...originLines({ origins: { [words]: { from: 'result', callId: words, server: words } }, labels: [words] }),
        );
        serverLog(words, 'debug', PLAIN, (line) => lines.push(line))(
          'notifications/message',
          rawFrom({ level: 'error', logger: words, data: value }),
        );
        return lines.join('');
      }),
    WAIT,
  );

  test(
    'why a tool is here, or is not',
    () =>
      every(
        fc.tuple(serverRef, fc.array(hostileTool, { minLength: 1, maxLength: 3 }), hostileText),
        async ([ref, entries, asked]) => {
          const server: ServerRef = { ...ref, scope: 'project' };
          const read = entries.map((entry) => definitionFromMcp(server, rawFrom(entry)));
          const catalog = createCatalog({
            sources: [
              {
                server,
                list: async () => ({
                  tools: read.flatMap((each) => ('tool' in each ? [each.tool] : [])),
                  setAside: read.flatMap((each) =>
                    'tool' in each ? [] : [{ tool: each.name, reasons: each.setAside }],
                  ),
                }),
                call: () => Promise.reject(new Error('Nobody calls.')),
                onChange: () => () => {},
              },
            ],
            policy: allowAll(),
          });
          const nobody = { agent: asked, via: 'terminal' } as const;
          await catalog.refresh(new AbortController().signal);
          const names = [
            asked,
            ...entries.map(({ name }) => name),
            ...catalog.list(nobody).map((each) => each.ref.name),
          ];
          const reasons = names.flatMap((name) => catalog.explain(name, nobody));
          catalog.close();
          return reasons.map(reasonLine).join('\n');
        },
      ),
    WAIT,
  );
});

describe('the commands show nothing unseen', () => {
  let at: Person;
  beforeEach(async () => {
    at = await person();
  });
  afterEach(() => at.remove());

  const sample = <T>(arbitrary: fc.Arbitrary<T>, many: number) => fc.sample(arbitrary, { numRuns: many, seed: 7 });

  /** Both as text and as JSON; a failure of a command isn't what is tested here. */
  async function show(...args: string[]) {
    for (const more of [[], ['--json']]) {
      const { stdout, stderr } = await bridle([...args, ...more], at);
      expect(stdout + stderr).not.toContain('error (internal)');
      expectSeen(stdout);
      expectSeen(stderr);
      if (more.length === 0) expect(stdout).not.toBe('');
    }
  }

  test(
    'tools list, explain: of a server with hostile definitions',
    async () => {
      const entries = sample(hostileTool, 500);
      const file = join(at.cwd, 'tools.jsonl');
      writeFileSync(file, entries.map((entry) => JSON.stringify(entry)).join('\n'));
      await at.servers({ x: at.fixture('hostile.mjs', [`--tools=${file}`]) });
      await show('tools', 'list', '--trust-project');
      for (const { name } of entries.slice(0, 3)) await show('explain', `${name} `, '--trust-project');
    },
    WAIT,
  );

  test(
    'trace list, trace show: of a run with hostile content',
    async () => {
      const [run = '', task = ''] = sample(hostileText, 2);
      const dir = join(at.env.XDG_STATE_HOME ?? '', 'bridle', 'traces');
      const trace = await createTrace({ dir, run: `r${run}`, agent: run, model: task, task });
      const parts = fc.tuple(question, outcome, hostileText, hostileJson);
      for (const [{ callId, args, who: whose, decision: decided }, ended, words, value] of sample(parts, 300)) {
        const detail = { message: words, note: value };
        trace.event({ v: 1, at: 0, type: 'input', content: value });
        trace.event({
          v: 1,
          at: 0,
          type: 'model',
          message: { content: [{ type: 'text', text: words }] },
          stopReason: 'tool_use',
          usage: {},
        });
        trace.event({ v: 1, at: 0, type: 'intent', callId, name: words, args });
        trace.event({ v: 1, at: 0, type: 'limit', detail });
        trace.event({ v: 1, at: 0, type: 'edit', detail: value });
        trace.question?.({
          callId,
          conversation: 'c',
          server: words,
          tool: words,
          request: { method: words, params: { message: words } },
          error: words,
          ms: 1,
        });
        const call = { callId, conversation: 'c', who: whose, name: words, args, decision: decided, labels: [words] };
        trace.outcome({ ...call, startedAt: 0, ms: 1, attempts: 1, outcome: ended });
      }
      trace.end(task, { text: task });
      await trace.close();
      await show('trace', 'list');
      await show('trace', 'show');
    },
    WAIT,
  );

  test(
    'approvals list, approvals show: of what hostile servers and models ask for',
    async () => {
      const store = await openStore({ file: join(at.env.XDG_STATE_HOME ?? '', 'bridle', 'state.db') });
      const inbox = approvals({ store, key: KEY });
      for (const asked of sample(question, 50)) await inbox.asker().ask(asked);
      const ids = (await inbox.list()).map(({ id }) => id);
      await store.close();
      await show('approvals', 'list', '--all');
      for (const id of ids.slice(0, 3)) await show('approvals', 'show', id);
    },
    WAIT,
  );
});
