import { allowAll, type JsonObject, memoryRecorder, rawFrom, type ToolHost, toolHost } from 'bridle';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDocuments } from './documents.ts';
import { fetchTool } from './fetch.ts';
import { DOCUMENT_PAGES, HELP_PAGES } from './pages.ts';
import { openSite, type Site } from './site.ts';
import { tenantViews } from './views.ts';

let elsewhere: Site;
let store: Site;
let help: Site;
let host: ToolHost;
beforeAll(async () => {
  elsewhere = await openSite(new Map([['/secret', 'SECRET']]));
  const away = `http://${elsewhere.host}/secret`;
  store = await openSite(DOCUMENT_PAGES, new Map([['/acme/moved.md', away]]));
  help = await openSite(HELP_PAGES, new Map([['/help/moved', away]]));
  const views = tenantViews(createDocuments(`http://${store.host}`), help.host);
  host = await toolHost({ tools: [fetchTool], views, policy: allowAll(), recorder: memoryRecorder() });
});
afterAll(() => Promise.all([elsewhere.close(), store.close(), help.close()]));

let asked: number;
const requests = () => elsewhere.asked.length + store.asked.length + help.asked.length;
beforeEach(() => {
  asked = requests();
});

async function call(user: string | undefined, name: string, args: JsonObject) {
  const who = { agent: 'a', via: 'library', ...(user !== undefined && { user }) } as const;
  const ctx = { callId: `${user} ${name}`, who, signal: new AbortController().signal, idleMs: 60_000, hardMs: 120_000 };
  return host.call({ name, args: rawFrom(args), profile: 'relay', conversation: 'c', ctx });
}

async function textOf(...which: Parameters<typeof call>) {
  const outcome = await call(...which);
  return outcome.kind === 'ok' ? outcome.raw.text : outcome.kind;
}

test('the list has the narrow tools, and not the one that fetches anything', async () => {
  expect(host.list({ agent: 'a', via: 'library', user: 'ada' }).map(({ ref }) => ref.name)).toEqual([
    'load_document',
    'load_help',
  ]);
  expect(await textOf('ada', 'fetch', { url: `http://${elsewhere.host}/secret` })).toBe('unknown_tool');
  expect(requests()).toBe(asked);
});

test('under one id each tenant loads its own document, of which only the text is told', async () => {
  const acme = await textOf('ada', 'load_document', { document: 'plan' });
  expect(acme).toContain('Lisbon');
  expect(acme).not.toContain(store.host);
  expect(await textOf('emil', 'load_document', { document: 'plan' })).toBe(acme);
  expect(await textOf('gina', 'load_document', { document: 'plan' })).toContain('ten people');
});

test('a page of the help is there for everybody', async () => {
  for (const user of ['ada', 'gina', undefined]) {
    expect(await textOf(user, 'load_help', { page: `http://${help.host}/help/start` })).toContain('by its id');
  }
});

describe('nothing is fetched', () => {
  const port = () => store.host.split(':')[1];
  test.each<[string, string | undefined, () => JsonObject]>([
    ["of another tenant's id", 'ada', () => ({ document: 'merger' })],
    [
      "of another tenant's document by its address",
      'ada',
      () => ({ document: `http://${store.host}/globex/merger.md` }),
    ],
    ['of a path out of the own folder', 'ada', () => ({ document: '../globex/merger' })],
    ['of a name that every object has', 'ada', () => ({ document: 'constructor' })],
    ['for somebody of no tenant', 'mallory', () => ({ document: 'plan' })],
    ['for nobody', undefined, () => ({ document: 'plan' })],
    ['for whom the model says that it is', 'ada', () => ({ document: 'merger', user: 'gina' })],
    ['when the model says where redirects lead', 'ada', () => ({ document: 'plan', follow: true })],
    [
      'when it gives the hidden argument besides',
      'ada',
      () => ({ document: 'plan', url: `http://${elsewhere.host}/` }),
    ],
  ])('%s', async (_, user, args) => {
    expect(await textOf(user, 'load_document', args())).toBe('invalid');
    expect(requests()).toBe(asked);
  });

  test.each<[string, () => string]>([
    ['a file', () => 'file:///etc/passwd'],
    ['data in the address', () => 'data:text/plain,SECRET'],
    ['another scheme', () => `https://${help.host}/help/start`],
    ['another port of the same machine', () => `http://127.0.0.1:${port()}/globex/merger.md`],
    ['an allowed host as user name', () => `http://${help.host}@127.0.0.1:${port()}/globex/merger.md`],
    ['a user name', () => `http://ada@${help.host}/help/start`],
    ['an IP address as one decimal', () => `http://2130706433:${port()}/globex/merger.md`],
    ['an IP address in hexadecimal', () => `http://0x7f.1:${port()}/globex/merger.md`],
    ['an IPv4 address in an IPv6 one', () => `http://[::ffff:127.0.0.1]:${port()}/globex/merger.md`],
    ['a name of this machine', () => `http://localhost:${port()}/globex/merger.md`],
    ['backslashes', () => `http:\\\\127.0.0.1:${port()}\\globex\\merger.md`],
    ['an allowed host in front of a dot', () => `http://127.0.0.1.evil.test:${help.host.split(':')[1]}/help/start`],
    ['no scheme', () => `//127.0.0.1:${port()}/globex/merger.md`],
    ['a line break', () => `http://127.0.0.1:${port()}/globex\n/merger.md`],
  ])('of an address with %s', async (_, page) => {
    expect(await textOf('ada', 'load_help', { page: page() })).toBe('invalid');
    expect(requests()).toBe(asked);
  });
});

test.each<[string, () => [string, JsonObject]]>([
  ['a document', () => ['load_document', { document: 'moved' }]],
  ['a page of the help', () => ['load_help', { page: `http://${help.host}/help/moved` }]],
])('a redirect of %s to another host is not followed, and nobody is told where it leads', async (_, of) => {
  const outcome = await call('ada', ...of());
  expect(outcome.kind).not.toBe('ok');
  expect(JSON.stringify(outcome)).not.toMatch(/SECRET|127\.0\.0\.1/);
  expect(requests()).toBe(asked + 1);
  expect(elsewhere.asked).toEqual([]);
});
