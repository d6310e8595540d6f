import { readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ChatModel, chatModel } from './helpers/chat-model.ts';
import { type AtTerminal, atTerminal, type Person, person, runBridle, stillAlive } from './helpers/cli-process.ts';
import { published } from './helpers/mcp.ts';
import { CTRL_C, CTRL_D, TAB, type Typist, typist, UP } from './helpers/typist.ts';

const TRUST = '--trust-project';

let at: Person;
const models: ChatModel[] = [];
const terminals: AtTerminal[] = [];

beforeEach(async () => {
  at = await person();
  await at.servers({ one: at.fixture('sdk-v1.mjs') });
});
afterEach(async () => {
  for (const { child } of terminals.splice(0)) child.kill('SIGKILL');
  await Promise.all(models.splice(0).map((model) => model.close()));
  await at.remove();
});

async function playing(...turns: Parameters<typeof chatModel>[0]): Promise<ChatModel> {
  const model = await chatModel(turns);
  models.push(model);
  return model;
}

function open(...args: string[]): { readonly terminal: AtTerminal; readonly user: Typist } {
  const terminal = atTerminal(['chat', TRUST, ...args], at);
  terminals.push(terminal);
  return { terminal, user: typist(terminal) };
}

const call = (name: string, args = '{}') => [{ name: `mcp__one__${name}`, args }];
const adding = (a: number) => call('add', JSON.stringify({ a, b: 1 }));
const ASKED = /\[y\/a\/p\/n\] $/;

async function leaves({ terminal, user }: ReturnType<typeof open>): Promise<void> {
  await user.at(/> $/, CTRL_D);
  expect((await terminal.ended).status).toBe(0);
  expect(await stillAlive(at)).toEqual([]);
}

describe('a call that needs a word', () => {
  test('runs after a yes, once; an always covers the tool for the rest of the chat, and no file says so', async () => {
    const model = await playing(adding(1), adding(2), 'Two.', adding(3), 'Three.');
    const chat = open('--model', model.spec);
    await chat.user.says('Add.');
    await chat.user.at(ASKED, 'y\r');
    await chat.user.sees(/ok in \d+ ms: \{"sum":2\}/);
    await chat.user.at(ASKED, 'a\r');
    await chat.user.sees(/Allowed until you leave: mcp__one__add[\s\S]*\{"sum":3\}[\s\S]*Two\./);
    await chat.user.says('Again.');
    expect(await chat.user.sees(/Three\./)).not.toContain('Run it?');
    await leaves(chat);
    const next = open('--model', (await playing(adding(1), 'No.')).spec);
    await next.user.says('Add.');
    await next.user.at(ASKED, 'n not today\r');
    await next.user.sees(/No\./);
    expect(models[1]?.toolAnswers(1).join()).toContain('not today');
    await leaves(next);
  });

  test('that an ask rule names has no always, and that is said', async () => {
    await writeFile(join(at.cwd, 'bridle.json'), JSON.stringify({ permissions: { ask: ['mcp__one__add'] } }));
    const chat = open('--model', (await playing(adding(1), 'Done.')).spec);
    await chat.user.says('Add.');
    await chat.user.at(ASKED, 'a\r');
    await chat.user.sees(/Not always: an ask rule[\s\S]*bridle\.json:1/);
    await chat.user.at(ASKED, 'y\r');
    await chat.user.sees(/Done\./);
    await leaves(chat);
  });

  test('is asked about after the one before it, when both came in one reply and may run side by side', async () => {
    await at.servers({ one: { ...at.fixture('sdk-v1.mjs'), trust: true } });
    const model = await playing([...adding(1), ...adding(2)], 'Both.');
    const chat = open('--model', model.spec);
    await chat.user.says('Add.');
    await chat.user.at(/"a": 1,[\s\S]*\[y\/a\/p\/n\] $/, 'y\r');
    await chat.user.at(/"a": 2,[\s\S]*\[y\/a\/p\/n\] $/, 'n\r');
    await chat.user.sees(/Both\./);
    expect(model.toolAnswers(1)).toEqual([expect.stringContaining('2'), expect.stringContaining('not approved')]);
    await leaves(chat);
  });

  test('is not answered by what was typed before it was asked', async () => {
    const chat = open('--model', (await playing(adding(1), 'Done.')).spec);
    await chat.user.says('Add.\ry\ry');
    await chat.user.at(ASKED, 'n\r');
    await chat.user.sees(/denied[\s\S]*Done\./);
    await leaves(chat);
  });
});

describe('Ctrl-C', () => {
  test('stops the turn and keeps the session; twice at an empty prompt it leaves', async () => {
    await at.servers({ one: at.fixture('misfits.mjs') });
    const model = await playing(call('wait'), 'Here again.');
    const { terminal, user } = open('--model', model.spec, '--allow', 'mcp__one__*');
    await user.says('Wait.');
    await user.sees(/→ mcp__one__wait/);
    terminal.interrupt();
    await user.sees(/stopping…[\s\S]*stopped; the session goes on/);
    await user.says('Are you there?');
    await user.sees(/Here again\./);
    expect(JSON.stringify(model.requests[1]?.body)).toContain('cancelled');
    await user.at(/> $/, CTRL_C);
    await user.sees(/once more leaves/);
    await user.at(/> $/, CTRL_C);
    expect((await terminal.ended).status).toBe(0);
  });

  test('in a question stops the turn, and the call does not run', async () => {
    const chat = open('--model', (await playing(adding(1), 'Never.')).spec);
    await chat.user.says('Add.');
    await chat.user.at(ASKED, CTRL_C);
    await chat.user.sees(/stopped; the session goes on/);
    await leaves(chat);
  });

  test('drops a line that was begun', async () => {
    const model = await playing('Yes.');
    const chat = open('--model', model.spec);
    await chat.user.at(/> $/, 'nonsense');
    await chat.user.at(/nonsense$/, CTRL_C);
    await chat.user.says('Hello?');
    await chat.user.sees(/Yes\./);
    expect(JSON.stringify(model.requests[0]?.body)).not.toContain('nonsense');
    await leaves(chat);
  });
});

describe('being stopped', () => {
  test('by Ctrl-C while a server hangs at its start begins without it, and leaving ends the server', async () => {
    // Nothing but the key ends this wait.
    await at.servers({ one: at.fixture('scripted.mjs', ['--start=hang'], { startMs: 3_600_000 }) });
    const { terminal, user } = open('--model', 'offline', '--ready-seconds', '3600');
    await user.at(/starting the servers…/, CTRL_C);
    await user.sees(/"one" is still starting/);
    await leaves({ terminal, user });
    expect(await stillAlive(at)).toEqual([]);
  });

  test.each(['SIGTERM', 'SIGHUP'] as const)('by %s leaves in order, at the prompt and in a call', async (signal) => {
    await at.servers({ one: at.fixture('misfits.mjs') });
    const waiting = open('--model', 'offline');
    await waiting.user.sees(/> $/);
    waiting.terminal.signal(signal);
    expect((await waiting.terminal.ended).status).toBe(130);
    const model = await playing(call('wait'));
    const busy = open('--model', model.spec, '--allow', 'mcp__one__*');
    await busy.user.says('Wait.');
    await busy.user.sees(/→ mcp__one__wait/);
    busy.terminal.signal(signal);
    expect((await busy.terminal.ended).status).toBe(130);
    expect(await stillAlive(at)).toEqual([]);
  });
});

test('trust is asked for at the same keyboard, before anything starts', async () => {
  const terminal = atTerminal(['chat', '--model', 'offline'], at);
  terminals.push(terminal);
  const user = typist(terminal);
  await user.at(/Trust this folder\?.*\[y\/N\] $/, 'y\r');
  await user.sees(/1 server, 4 tools/);
  await leaves({ terminal, user });
});

describe('sessions', () => {
  test('are gone on with where they were left, with --continue, by id, and by choice', async () => {
    const first = open('--model', (await playing(adding(1), 'It is two.')).spec, '--allow', 'mcp__one__add');
    await first.user.says('What is one and one?');
    await first.user.sees(/It is two\./);
    await first.user.says('/sessions');
    const [, id = ''] = /(\d{8}-[\w-]+) {2}.*1 turn .*one and one/.exec(await first.user.sees(/one and one\?/)) ?? [];
    expect(id).not.toBe('');
    await leaves(first);

    const again = await playing('Two, I said.');
    const second = open('--model', again.spec, '--continue');
    await second.user.sees(/resumed .*1 turn: What is one and one\?/);
    await second.user.says('What was it?');
    await second.user.sees(/Two, I said\./);
    const sent = JSON.stringify(again.requests[0]?.body);
    for (const part of ['What is one and one?', 'mcp__one__add', '\\"sum\\":2', 'It is two.', 'What was it?']) {
      expect(sent).toContain(part);
    }
    await second.user.says('/clear');
    await second.user.sees(/Begun anew/);
    await second.user.says('/resume');
    await second.user.at(/Enter for none: $/, '1\r');
    await second.user.sees(/resumed .*2 turns/);
    await leaves(second);

    const third = open('--model', (await playing('Still two.')).spec, '--resume', id.slice(0, 15));
    await third.user.sees(/resumed .*2 turns/);
    await leaves(third);
    const file = join(at.env.XDG_STATE_HOME ?? '', 'bridle', 'sessions', `${id}.jsonl`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('go on with another model, and say what they cost', async () => {
    const chat = open('--model', (await playing('I am one.')).spec);
    const other = await playing('I am another.');
    await chat.user.says('Who are you?');
    await chat.user.sees(/I am one\./);
    await chat.user.says(`/model ${other.spec}`);
    await chat.user.sees(/it has what was said so far/);
    await chat.user.says('And now?');
    await chat.user.sees(/I am another\./);
    expect(JSON.stringify(other.requests[0]?.body)).toContain('I am one.');
    await chat.user.says('/cost');
    await chat.user.sees(/2 turns, 0 calls/);
    await leaves(chat);
  });

  test('an id that no session has is said before anything starts a turn', async () => {
    expect(await runBridle(['chat', TRUST, '--resume', 'nope'], at, '')).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('session_not_found'),
    });
    expect(await runBridle(['chat', 'hello'], at, '')).toMatchObject({ status: 2 });
  });
});

describe('the input line', () => {
  test('completes commands, tools and servers', async () => {
    const chat = open('--model', 'offline');
    await chat.user.at(/> $/, `/expl${TAB}`);
    await chat.user.at(/\/explain $/, `mcp__one__a${TAB}`);
    await chat.user.sees(/mcp__one__add/);
    chat.terminal.child.stdin?.write('\r');
    await chat.user.sees(/catalog: "add" of server "one"/);
    await chat.user.at(/> $/, `/mcp disable o${TAB}`);
    await chat.user.sees(/disable one/);
    chat.terminal.child.stdin?.write('\r');
    await chat.user.sees(/one: disabled/);
    await leaves(chat);
  });

  test('takes several lines, by a backslash and by pasting, and gives earlier ones back', async () => {
    const model = await playing('One.', 'Two.', 'Three.');
    const chat = open('--model', model.spec);
    await chat.user.at(/> $/, 'first\\\r');
    await chat.user.at(/\. $/, 'second\r');
    await chat.user.sees(/One\./);
    await chat.user.at(/> $/, '\u001b[200~pasted\rlines\u001b[201~');
    await chat.user.at(/lines$/, '\r');
    await chat.user.sees(/Two\./);
    await chat.user.at(/> $/, UP);
    await chat.user.at(/lines$/, '\r');
    await chat.user.sees(/Three\./);
    const asked = model.requests.map(({ body }) => {
      const { messages } = body as { messages: { content: unknown }[] };
      return messages.at(-1)?.content;
    });
    expect(asked).toEqual(['first\nsecond', 'pasted\nlines', 'lines']);
    await leaves(chat);
    const file = join(at.env.XDG_STATE_HOME ?? '', 'bridle', 'chat-history');
    expect(readFileSync(file, 'utf8').split('\n')).toEqual(['first\\', 'second', 'pasted', 'lines', '']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

test('/mcp restarts a server, and switches it off and on for the agent', async () => {
  const model = await playing('None.', 'Some.');
  const chat = open('--model', model.spec);
  await chat.user.says('/mcp');
  await chat.user.sees(/● one: ready, 4 tools/);
  await chat.user.says('/mcp disable one');
  await chat.user.sees(/○ one: disabled/);
  await chat.user.says('Any tools?');
  await chat.user.sees(/None\./);
  await chat.user.says('/mcp enable one');
  await chat.user.sees(/● one: ready, 4 tools/);
  await chat.user.says('And now?');
  await chat.user.sees(/Some\./);
  const offered = model.requests.map(({ body }) => JSON.stringify((body as { tools?: unknown }).tools ?? []));
  expect(offered[0]).not.toContain('mcp__one__add');
  expect(offered[1]).toContain('mcp__one__add');
  await chat.user.says('/mcp reconnect one');
  await chat.user.sees(/● one: ready/);
  await chat.user.says('/mcp reconnect two');
  await chat.user.sees(/no server "two"/);
  await leaves(chat);
});

test('a question of the model shows its options, and the next line answers it', async () => {
  const question = { question: 'Which colour?', options: ['Red', 'Green'] };
  const model = await playing([{ name: 'ask_user', args: JSON.stringify(question) }], 'Green it is.');
  const chat = open('--model', model.spec);
  await chat.user.says('Paint it.');
  await chat.user.sees(/\? Which colour\?\n {2}1\. Red\n {2}2\. Green/);
  await chat.user.at(/answer> $/, '2\r');
  await chat.user.sees(/Green it is\./);
  expect(JSON.stringify(model.requests[1]?.body)).toContain('"Green"');
  await leaves(chat);
});

describe.each([
  ['of the legacy era', 'sdk-v1.mjs'],
  ['of the modern era', 'sdk-v2.mjs'],
])('a form of a server %s', (_, fixture) => {
  test('is filled in at the terminal, in a chat and in a run', async () => {
    await at.servers({ one: at.fixture(fixture) });
    const model = await playing(call('who'), 'Hello, Ada.', call('who'), 'Hello, Eve.');
    const chat = open('--model', model.spec, '--allow', 'mcp__one__who');
    await chat.user.says('Greet me.');
    await chat.user.sees(/Server one asks you something, in its tool who:\n {2}Your name\?/);
    await chat.user.at(/name \(text\)\n: $/, 'Ada\r');
    await chat.user.at(/1\. name: Ada\n[\s\S]*change that\. $/, 'y\r');
    await chat.user.sees(/Hello, Ada\./);
    expect(model.toolAnswers(1).join()).toMatch(/accept.*Ada/);
    await leaves(chat);

    const terminal = atTerminal(['run', 'Greet me.', TRUST, '--model', model.spec, '--allow', 'mcp__one__who'], at);
    terminals.push(terminal);
    const user = typist(terminal, 200);
    await user.at(/name \(text\)\n: $/, 'Eve\n');
    await user.at(/change that\. $/, 'y\n');
    await user.sees(/Hello, Eve\./);
    expect(model.toolAnswers(3).join()).toMatch(/accept.*Eve/);
    expect((await terminal.ended).status).toBe(0);
  });

  test('is cancelled with the turn, and declined where nobody can be asked', async () => {
    await at.servers({ one: at.fixture(fixture) });
    const model = await playing(call('who'), call('who'), 'Nobody.');
    const args = ['--model', model.spec, '--allow', 'mcp__one__who'];
    const chat = open(...args);
    await chat.user.says('Greet me.');
    await chat.user.at(/name \(text\)\n: $/, CTRL_C);
    await chat.user.sees(/stopped; the session goes on/);
    await leaves(chat);
    const { status, stdout, stderr } = await runBridle(['chat', TRUST, ...args], at, 'Greet me.\n');
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Nobody.\n' });
    expect(stderr).toMatch(/declined: Server "one" asked for information.*Your name\?/);
    expect(model.toolAnswers(2).join()).toContain('decline');
  });
});

test('a server may have a page shown and ask for the folder, but not use the model', async () => {
  await at.servers({ one: at.fixture('sdk-v2.mjs', ['--asks']) });
  const model = await playing(call('visit'), 'Visited.', call('roots'), 'Rooted.', call('model'), 'Not lent.');
  const chat = open('--model', model.spec, '--allow', 'mcp__one__*');
  await chat.user.says('Visit.');
  await chat.user.sees(/Pay first\.[\s\S]*page of pay\.example[\s\S]*https:\/\/pay\.example\/order\?id=1/);
  await chat.user.at(/\[y\/n\/c\] $/, 'y\r');
  await chat.user.sees(/Visited\./);
  await chat.user.says('Roots.');
  await chat.user.sees(/Rooted\./);
  await chat.user.says('Model.');
  await chat.user.sees(/Not lent\./);
  expect(model.toolAnswers(1).join()).toContain('accept');
  expect(model.toolAnswers(3).join()).toContain(`file://${at.cwd}`);
  expect(JSON.stringify(model.requests[5]?.body)).toMatch(/not received|refused|did not|capability/i);
  await leaves(chat);
});

test('a published server of the legacy era may want a page visited by an error, and by a question', async () => {
  await at.servers({
    one: { command: process.execPath, args: [published('server-everything'), 'stdio', at.mark] },
  });
  const args = JSON.stringify({ url: 'https://one.example/form', message: 'Sign it.', errorPath: true });
  const model = await playing(call('trigger-url-elicitation', args), 'Signed.');
  const chat = open('--model', model.spec, '--allow', 'mcp__one__trigger-url-elicitation');
  await chat.user.says('Sign.');
  await chat.user.at(/Server one asks you something[\s\S]*\[y\/n\/c\] $/, 'y\r');
  await chat.user.at(/https:\/\/one\.example\/form[\s\S]*\[y\/n\/c\] $/, 'y\r');
  await chat.user.sees(/Signed\./);
  expect(model.toolAnswers(1).join()).toContain('accept');
  await leaves(chat);
});

describe('in a pipe', () => {
  test('each line is a turn, and stdout has the answers alone', async () => {
    const model = await playing('One.', adding(1), 'Two.', 'Three.');
    const input = 'First.\n\nSecond, \\\nwith two lines.\n/tools\nThird.';
    const { status, stdout, stderr } = await runBridle(['chat', TRUST, '--model', model.spec], at, input);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'One.\nTwo.\nThree.\n' });
    expect(stderr).toContain('denied');
    expect(stderr).not.toContain('\u001b');
    expect(model.toolAnswers(2).join()).toContain("--allow 'mcp__one__add'");
    expect(JSON.stringify(model.requests[1]?.body)).toContain('Second, \\nwith two lines.');
    expect(JSON.stringify(model.requests[3]?.body)).toContain('One.');
  });

  test('the status is that of the last turn that had no answer; /exit ends it', async () => {
    const model = await playing(adding(1), 'Never.');
    const args = ['chat', TRUST, '--model', model.spec, '--max-turns', '1', '--allow', 'mcp__one__add'];
    expect(await runBridle(args, at, 'Add.\n/exit\nMore.\n')).toMatchObject({ status: 6, stdout: '' });
    expect(model.requests).toHaveLength(1);
  });
});
