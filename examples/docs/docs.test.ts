import { ToolFailure, toolHost } from 'bridle';
import { describe, expect, test } from 'vitest';
import { docsContent } from './content.ts';
import { openDocsDatabase } from './database.ts';
import { createDocs } from './docs.ts';
import { asMarkdown } from './markdown.ts';
import { docsPolicy, docsTools } from './tools.ts';

const ada = { agent: 'a', user: 'ada', via: 'library' } as const;
const emil = { agent: 'a', user: 'emil', via: 'library' } as const;
const open = async () => createDocs(await openDocsDatabase(':memory:'));

describe('the documents', () => {
  test('are edited by whoever was granted that, each for themselves and for that document', async () => {
    const docs = await open();
    docs.grant('ada', 'plan.md');
    expect(docs.edit('ada', 'plan.md', (text) => `${text}!`).version).toBe(2);
    for (const [who, id] of [
      ['emil', 'plan.md'],
      ['ada', 'report.pdf'],
    ] as const)
      expect(() => docs.edit(who, id, () => 'x')).toThrow(ToolFailure);
    expect(() => docs.grant('ada', 'nothing')).toThrow(ToolFailure);
  });

  test('edit_document is there for whoever may edit something, and for nobody else', async () => {
    const docs = await open();
    const host = await toolHost({ tools: docsTools(docs), content: [docsContent(docs)], policy: docsPolicy(docs) });
    const names = (who: typeof ada | typeof emil) => host.list(who).map(({ ref }) => ref.tool);
    let told = 0;
    docs.onGrant(() => {
      told += 1;
    });
    expect(names(ada)).not.toContain('edit_document');
    docs.grant('ada', 'plan.md');
    expect([names(ada).includes('edit_document'), names(emil).includes('edit_document'), told]).toEqual([
      true,
      false,
      1,
    ]);
  });

  test('an edit is told to whoever follows the resource', async () => {
    const docs = await open();
    const content = docsContent(docs);
    let updated = 0;
    content.subscribe('docs://documents/plan.md', () => {
      updated += 1;
    });
    docs.grant('ada', 'plan.md');
    docs.edit('ada', 'plan.md', asMarkdown);
    expect(updated).toBe(1);
  });
});

test('asMarkdown lays a text out, and leaves one that is laid out as it is', () => {
  const once = asMarkdown('release plan\ngoals:\n* one\n• two\n');
  expect(once).toBe('# Release plan\n\n## Goals\n\n- one\n- two\n');
  expect(asMarkdown(once)).toBe(once);
});
