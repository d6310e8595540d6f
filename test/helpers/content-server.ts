import { fileURLToPath } from 'node:url';
import { contentSource, definePrompt, defineResource, defineResourceTemplate, type Identity, toolHost } from 'bridle';
import { serve } from 'bridle/server';

/** The program that serves documents over stdio; it runs on the built package. */
export const CONTENT_SERVER = fileURLToPath(new URL('../serve/content-server.mjs', import.meta.url));

/** Documents served over HTTP by this process; `x-agent` says who asks. */
export async function documents() {
  let edits = 0;
  const granted = new Set<string>();
  const extra = defineResource({ uri: 'docs://new', name: 'new', read: () => 'new' });
  const resources = [
    defineResource({ uri: 'docs://plan', name: 'plan.md', mimeType: 'text/markdown', read: () => `# Plan ${edits}` }),
    defineResource({
      uri: 'docs://secret',
      name: 'secret',
      visible: ({ agent }) => granted.has(agent),
      read: () => 'secret',
    }),
  ];
  const source = contentSource({
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
  const identify = async (headers: ReadonlyMap<string, string>): Promise<Identity> => ({
    agent: headers.get('x-agent') ?? 'nobody',
    via: 'library',
  });
  const handle = await serve(await toolHost({ tools: [], content: [source] }), { http: { port: 0, identify } });
  return {
    url: handle.url ?? '',
    close: () => handle.close(),
    edit() {
      edits += 1;
      source.updated('docs://plan');
    },
    editSecret: () => source.updated('docs://secret'),
    grow() {
      resources.push(extra);
      source.changed();
    },
    grant(agent: string) {
      granted.add(agent);
      source.changed();
    },
  };
}
