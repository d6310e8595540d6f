import {
  contentSource,
  definePrompt,
  defineResource,
  defineResourceTemplate,
  embeddedResource,
  type OwnContent,
} from 'bridle';
import type { Docs } from './docs.ts';

const ALL = 'docs://documents';

/** The documents as resources, and a prompt about them. */
export function docsContent(docs: Docs): OwnContent {
  const completing = (value: string) => docs.ids().filter((id) => id.startsWith(value));
  const uriOf = (id: string) => `${ALL}/${encodeURIComponent(id)}`;
  const content = contentSource({
    resources: [
      defineResource({
        uri: ALL,
        name: 'documents',
        title: 'All documents',
        description: 'The ids of all documents.',
        mimeType: 'application/json',
        read: () => JSON.stringify(docs.ids()),
      }),
    ],
    templates: [
      defineResourceTemplate({
        uriTemplate: `${ALL}/{id}`,
        name: 'document',
        title: 'A document',
        complete: { id: completing },
        read({ id = '' }) {
          if (!docs.ids().includes(id)) return null;
          const { content: body, type } = docs.read(id);
          return { text: body, mimeType: type };
        },
      }),
    ],
    prompts: [
      definePrompt({
        name: 'format',
        title: 'Format a document',
        description: 'Lays a document out as Markdown.',
        arguments: [
          {
            name: 'document_id',
            description: 'Id of the document to format',
            required: true,
            complete: completing,
          },
        ],
        messages({ document_id: id = '' }) {
          const { content: body, type } = docs.read(id);
          return [
            {
              role: 'user',
              content: `Request access to edit the document ${id}. Then edit the document ${id} in the style markdown.`,
            },
            { role: 'user', content: embeddedResource({ uri: uriOf(id), mimeType: type, text: body }) },
          ];
        },
      }),
    ],
  });
  docs.onEdit((id) => content.updated(uriOf(id)));
  return content;
}
