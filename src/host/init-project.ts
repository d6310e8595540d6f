import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BridleError, makeFolder } from '../tools/index.ts';

const RULES = `{
  // Completion and checks in editors. Comments and trailing commas are fine in this file.
  "$schema": "./node_modules/bridle/schema/bridle.schema.json",
  "permissions": {
    // These calls run without a question, once you trust this folder. A tool of a server is mcp__<server>__<tool>, and
    // * stands for any end of the tool's name: "mcp__shop__get_*".
    "allow": [],
    // A person is asked about each of these calls, whatever else allows them: "mcp__shop__refund_transaction".
    "ask": [],
    // These are hidden from the model, and never run: "mcp__shop__delete_customer".
    "deny": [],
  },
  // The facts of a call, looked up by a read-only tool of the same server and shown to whoever is asked:
  // "previews": {
  //   "mcp__shop__refund_transaction": {
  //     "tool": "get_transaction",
  //     "arguments": { "transaction_id": "/transaction_id" },
  //   },
  // },
}
`;

const AGENT = `// One tool, one agent, one question: node agent.mjs "What is the status of ticket T-18?"
import { createAgent, defineTool, ToolFailure } from 'bridle';

const tickets = new Map([
  ['T-17', { status: 'open', subject: 'Printer on floor 3 is offline' }],
  ['T-18', { status: 'closed', subject: 'New badge for the lab' }],
]);

const lookupTicket = defineTool(
  {
    name: 'lookup_ticket',
    description: 'Looks up a support ticket by its number: status and subject.',
    input: {
      type: 'object',
      properties: { ticket_id: { type: 'string', pattern: '^T-[0-9]+$' } },
      required: ['ticket_id'],
    },
    annotations: { readOnlyHint: true },
  },
  ({ ticket_id }) => {
    const ticket = tickets.get(ticket_id);
    // The model reads this and can tell the person, or try another number.
    if (ticket === undefined) throw new ToolFailure(\`There is no ticket \${ticket_id}.\`);
    return { ticket_id, ...ticket };
  },
);

const agent = await createAgent({
  // 'offline' plans without a language model; with ANTHROPIC_API_KEY set, name one: 'claude-sonnet-5-5'.
  model: process.env.BRIDLE_MODEL ?? 'offline',
  tools: [lookupTicket],
  // What no rule names is asked about, and here nobody can answer.
  permissions: { allow: ['lookup_ticket'] },
});
const { text } = await agent.run(process.argv[2] ?? 'What is the status of ticket T-17?').result;
console.log(text);
await agent.close();
`;

const FILES: readonly (readonly [name: string, text: string])[] = [
  ['bridle.json', RULES],
  ['agent.mjs', AGENT],
];

/**
 * Writes what a project starts from: rules with comments, and an agent with a tool. Overwrites nothing.
 *
 * @param folder absolute; made when it isn't there
 * @returns names of the files that were written, and of those that were there already
 * @throws BridleError `init_exists` when all of them are there, `init_failed`
 */
export async function initProject(
  folder: string,
): Promise<{ readonly written: readonly string[]; readonly kept: readonly string[] }> {
  const written: string[] = [];
  const kept: string[] = [];
  try {
    await makeFolder(folder);
    for (const [name, text] of FILES) {
      // A symbolic link that leads nowhere counts as there, too: 'x' never follows one.
      const isNew = await writeFile(join(folder, name), text, { flag: 'wx' }).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
          throw error;
        },
      );
      (isNew ? written : kept).push(name);
    }
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new BridleError('init_failed', `${folder} can't be written to (${why}).`, {
      cause,
      hint: 'Name another folder, or check its permissions.',
    });
  }
  if (written.length > 0) return { written, kept };
  throw new BridleError('init_exists', `${kept.join(' and ')} are in ${folder} already; nothing was written.`, {
    hint: 'Name another folder, or move them away.',
  });
}
