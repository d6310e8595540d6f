/** A server author's program with documents: a fixed one, a family of them, a prompt, and tools that change them. */
import { contentSource, definePrompt, defineResource, defineResourceTemplate, defineTool, toolHost } from 'bridle';
import { serve } from 'bridle/server';

const none = { type: 'object', properties: {} };
const plan = 'docs://plan';
let edits = 0;
const resources = [
  defineResource({ uri: plan, name: 'plan.md', mimeType: 'text/markdown', read: () => `# Plan ${edits}` }),
  defineResource({ uri: 'docs://secret', name: 'secret', visible: () => false, read: () => 'never' }),
];
const content = contentSource({
  resources: () => resources,
  templates: [
    defineResourceTemplate({
      uriTemplate: 'docs://documents/{id}',
      name: 'document',
      complete: { id: (value) => ['report.pdf', 'rules.txt'].filter((id) => id.startsWith(value)) },
      read: ({ id }) => (id === 'report.pdf' ? new TextEncoder().encode('%PDF') : null),
    }),
  ],
  prompts: [
    definePrompt({
      name: 'format',
      description: 'Formats a document.',
      arguments: [{ name: 'id', required: true, complete: () => ['plan.md'] }],
      messages: ({ id }) => `Format ${id}.`,
    }),
  ],
});
const tools = [
  defineTool({ name: 'edit', description: 'Edits the plan.', input: none }, () => {
    edits += 1;
    content.updated(plan);
    return 'edited';
  }),
  defineTool({ name: 'grow', description: 'Adds a document.', input: none }, () => {
    resources.push(defineResource({ uri: 'docs://new', name: 'new', read: () => 'new' }));
    content.changed();
    return 'grown';
  }),
];

const host = await toolHost({ tools, content: [content] });
if (process.argv[2] === 'http') {
  const { url } = await serve(host, { http: { port: Number(process.argv[3] ?? 0), token: false } });
  console.log(url);
} else await serve(host, { stdio: true });
