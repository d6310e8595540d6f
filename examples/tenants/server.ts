/**
 * An MCP server over stdio whose one tool fetches anything, and whose callers get two narrow ones in its place.
 * `TENANT_USER` is the signed-in person (ada unless given): it comes from whoever starts this, not from the conversation.
 */
import { type ToolHost, toolHost } from 'bridle';
import { serve } from 'bridle/server';
import { createDocuments } from './documents.ts';
import { fetchTool } from './fetch.ts';
import { DOCUMENT_PAGES, HELP_PAGES } from './pages.ts';
import { openSite } from './site.ts';
import { tenantViews } from './views.ts';

const help = await openSite(HELP_PAGES);
const store = await openSite(DOCUMENT_PAGES, new Map([['/acme/moved.md', `http://${help.host}/help/start`]]));
const host = await toolHost({
  tools: [fetchTool],
  views: tenantViews(createDocuments(`http://${store.host}`), help.host),
  info: { name: 'tenants', version: '1.0.0', title: 'Documents of tenants' },
});
const user = process.env.TENANT_USER || 'ada';
/** Over stdio there is one caller: whoever started this process. */
const signedIn: ToolHost = {
  ...host,
  list: (who) => host.list({ ...who, user }),
  call: (call) => host.call({ ...call, ctx: { ...call.ctx, who: { ...call.ctx.who, user } } }),
};
await serve(signedIn, { stdio: true });
await Promise.all([store.close(), help.close()]);
