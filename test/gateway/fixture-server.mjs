/** A server that asks its caller for everything it can be asked for, and tells of what it does; with `--http` over HTTP. */
import { contentSource, definePrompt, defineResource, defineResourceTemplate, defineTool, toolHost } from 'bridle';
import { serve } from 'bridle/server';

const none = { type: 'object', properties: {} };
const part = { type: 'object', properties: { part: { type: 'string' } }, required: ['part'] };
const user = (text) => ({ role: 'user', content: { type: 'text', text } });
let waiting = () => {};
let isWaiting = false;
let finish = () => {};

const tools = [
  defineTool({ name: 'form', description: 'Asks for a part.', input: none }, async (_, { ask }) => {
    const answer = await ask('Which part?', part);
    return answer.action === 'accept' ? `part ${answer.content.part}` : answer.action;
  }),
  defineTool(
    { name: 'twice', description: 'Asks one thing after the other.', input: { ...none, additionalProperties: true } },
    async (_, { ask }) => {
      const first = await ask('First?', part);
      const second = await ask('Second?', part);
      return [first, second].map(({ content }) => content?.part ?? 'nothing').join(' and ');
    },
  ),
  defineTool(
    { name: 'everything', description: 'Asks for all of it.', input: none },
    async (_, { ask, roots, sample, visit }) => {
      const said = await sample({ messages: [user('Say something.')], maxTokens: 20 }, { key: 'model' });
      const folders = await roots();
      const form = await ask('Which part?', part);
      const went = await visit('Please pay.', 'https://example.com/pay');
      return `${JSON.stringify(said.content)} ${folders[0]?.uri} ${form.content?.part} ${went.action}`;
    },
  ),
  defineTool({ name: 'counts', description: 'Reports progress.', input: none }, async (_, { progress }) => {
    for (const done of [1, 2, 3]) progress(done, 3, `step ${done}`);
    return 'counted';
  }),
  defineTool({ name: 'waits', description: 'Waits for `finish`, or its end.', input: none }, async (_, { signal }) => {
    isWaiting = true;
    waiting();
    await new Promise((resolve) => {
      finish = resolve;
      signal.addEventListener('abort', () => {
        console.error('aborted');
        resolve();
      });
    });
    isWaiting = false;
    return 'waited';
  }),
  defineTool({ name: 'waiting', description: 'Ends when `waits` waits.', input: none }, async () => {
    if (!isWaiting) {
      await new Promise((resolve) => {
        waiting = resolve;
      });
    }
    return 'it waits';
  }),
  defineTool({ name: 'finish', description: 'Ends `waits`.', input: none }, () => {
    finish();
    return 'ok';
  }),
  defineTool({ name: 'touch', description: 'Changes the note.', input: none }, () => {
    version += 1;
    content.updated('notes://one');
    return 'ok';
  }),
];

let version = 1;
const content = contentSource({
  resources: [
    defineResource({
      uri: 'notes://one',
      name: 'one',
      mimeType: 'text/plain',
      read: () => ({ text: `note ${version}` }),
    }),
  ],
  templates: [
    defineResourceTemplate({
      uriTemplate: 'notes://by/{name}',
      name: 'by',
      complete: { name: () => ['ada', 'bob'] },
      read: ({ name }) => `by ${name}`,
    }),
  ],
  prompts: [
    definePrompt({
      name: 'greet',
      arguments: [{ name: 'who', required: true }],
      messages: ({ who }) => `Greet ${who}.`,
    }),
  ],
});

const host = await toolHost({ tools, content: [content] });
if (process.argv.includes('--http')) {
  const { url } = await serve(host, { http: { port: 0, token: false } });
  process.send?.({ url });
  process.once('disconnect', () => process.exit());
} else await serve(host, { stdio: true });
