import { allowAll, defineTool, type Policy, type Tool, ToolFailure, text } from 'bridle';
import type { Docs } from './docs.ts';
import { asMarkdown } from './markdown.ts';

const DOCUMENT_ID = { type: 'string', description: 'Id of the document, such as plan.md.' } as const;

/** What can be done with the documents. Who does it comes from the session: no tool takes a person. */
export function docsTools(docs: Docs): readonly Tool[] {
  return [
    defineTool(
      {
        name: 'list_documents',
        title: 'List the documents',
        description: 'Lists the ids of all documents.',
        input: { type: 'object', properties: {} },
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      () => ({ documents: docs.ids() }),
    ),
    defineTool(
      {
        name: 'read_document',
        title: 'Read a document',
        description: 'Reads the content of a document.',
        input: { type: 'object', properties: { document_id: DOCUMENT_ID }, required: ['document_id'] },
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      ({ document_id }) => text(docs.read(document_id).content),
    ),
    defineTool(
      {
        name: 'request_edit_access',
        title: 'Request access to edit',
        description:
          'Requests access to edit a document, for the person who is signed in. Once it is granted, edit_document is ' +
          'among the tools.',
        input: { type: 'object', properties: { document_id: DOCUMENT_ID }, required: ['document_id'] },
        annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
      },
      ({ document_id }, { who }) => {
        docs.grant(who.user ?? '', document_id);
        return { document_id, access: 'edit' };
      },
    ),
    defineTool(
      {
        name: EDIT,
        title: 'Edit a document',
        description:
          'Edits a document that the signed-in person has access to edit: lays it out in a style, or replaces the one ' +
          'place where a text stands by another.',
        input: {
          type: 'object',
          properties: {
            document_id: DOCUMENT_ID,
            style: { type: 'string', enum: ['markdown'], description: 'Lays the whole document out in this style.' },
            find: { type: 'string', minLength: 1, description: 'Text that stands in the document once.' },
            replace_with: { type: 'string', description: 'What is to stand there.' },
          },
          required: ['document_id'],
        },
        annotations: { destructiveHint: true, openWorldHint: false },
      },
      ({ document_id, style, find, replace_with }, { who }) => {
        const { version, content } = docs.edit(who.user ?? '', document_id, (before) =>
          style === 'markdown' ? asMarkdown(before) : replaced(before, find, replace_with),
        );
        return { document_id, version, lines: content.trimEnd().split('\n').length };
      },
    ),
  ];
}

const EDIT = 'edit_document';

function replaced(content: string, find: string | undefined, replaceWith: string | undefined): string {
  if (find === undefined || replaceWith === undefined) {
    throw new ToolFailure('Give style, or find and replace_with. Nothing was changed.', { category: 'validation' });
  }
  const parts = content.split(find);
  if (parts.length !== 2) {
    throw new ToolFailure(`That text stands there ${parts.length - 1} times, not once. Nothing was changed.`);
  }
  return parts.join(replaceWith);
}

/** The tool to edit exists only for whoever may edit something. */
export function docsPolicy(docs: Docs): Policy {
  const open = allowAll();
  const hidden = {
    effect: 'deny',
    reasons: [{ room: 'docs', code: 'no_edit_access', text: 'This person may edit nothing yet.' }],
    policyVersion: 'docs',
  } as const;
  return {
    view: (who, tool) => (tool.ref.tool === EDIT && !docs.mayEditAny(who.user ?? '') ? hidden : open.view(who, tool)),
    decide(who, tool, call) {
      return tool.ref.tool === EDIT && !docs.mayEditAny(who.user ?? '') ? hidden : open.decide(who, tool, call);
    },
  };
}
