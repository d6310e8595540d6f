/**
 * An MCP server of documents over stdio. Settings come from whoever starts it, not from the conversation: `DOCS_USER` is
 * the signed-in person (ada unless given), `DOCS_DB` the database file (in memory unless given).
 */
import { type ToolHost, toolHost } from 'bridle';
import { serve } from 'bridle/server';
import { docsContent } from './content.ts';
import { openDocsDatabase } from './database.ts';
import { createDocs } from './docs.ts';
import { docsPolicy, docsTools } from './tools.ts';

const docs = createDocs(await openDocsDatabase(process.env.DOCS_DB || ':memory:'));
const host = await toolHost({
  tools: docsTools(docs),
  content: [docsContent(docs)],
  policy: docsPolicy(docs),
  info: { name: 'docs', version: '1.0.0', title: 'A few documents' },
});
const user = process.env.DOCS_USER || 'ada';
/** Over stdio there is one caller: whoever started this process. */
const signedIn: ToolHost = {
  ...host,
  list: (who) => host.list({ ...who, user }),
  call: (call) => host.call({ ...call, ctx: { ...call.ctx, who: { ...call.ctx.who, user } } }),
  // Who may edit decides what is listed, so a grant changes the list.
  onChange(listener) {
    const stops = [host.onChange(listener), docs.onGrant(listener)];
    return () => {
      for (const stop of stops) stop();
    };
  },
};
await serve(signedIn, { stdio: true });
