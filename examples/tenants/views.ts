import { type View, view } from 'bridle';
import type { Documents } from './documents.ts';

/**
 * What stands in the list in place of `fetch`.
 *
 * @param help host and port of the help pages, such as `127.0.0.1:8080`
 */
export function tenantViews(documents: Documents, help: string): readonly View[] {
  return [
    view({
      name: 'load_document',
      tool: 'fetch',
      title: 'Load a document',
      description: "Loads one of your company's registered documents by its id, such as plan.",
      arguments: {
        // The model gives an id; the address is looked up here, among those of the caller's own tenant.
        url: { as: 'document', description: 'Its id.', choices: ({ user }) => documents.of(user) },
        follow: { fixed: false },
      },
      result: { keep: ['/text'] },
    }),
    view({
      name: 'load_help',
      tool: 'fetch',
      title: 'Load a help page',
      description: `Loads a page of the public help at http://${help}/help/.`,
      arguments: {
        url: { as: 'page', description: 'Its whole address.', hosts: [help], schemes: ['http'] },
        follow: { fixed: false },
      },
      result: { keep: ['/text'] },
    }),
  ];
}
