/** The smallest whole program: one tool, one agent, one question. The offline model needs no key and no network. */
import { createAgent, defineTool, ToolFailure } from 'bridle';

const tickets = new Map([
  ['T-17', { status: 'open', subject: 'Printer on floor 3 is offline', assignee: 'Mina' }],
  ['T-18', { status: 'closed', subject: 'New badge for the lab', assignee: 'Omar' }],
]);

const lookupTicket = defineTool(
  {
    name: 'lookup_ticket',
    description: 'Looks up a support ticket by its number: status, subject, and who works on it.',
    input: {
      type: 'object',
      properties: { ticket_id: { type: 'string', pattern: '^T-[0-9]+$' } },
      required: ['ticket_id'],
    },
    annotations: { readOnlyHint: true },
  },
  ({ ticket_id }) => {
    const ticket = tickets.get(ticket_id);
    if (ticket === undefined) throw new ToolFailure(`There is no ticket ${ticket_id}.`);
    return { ticket_id, ...ticket };
  },
);

const agent = await createAgent({ model: 'offline', tools: [lookupTicket], permissions: { allow: ['lookup_ticket'] } });
const { text } = await agent.run(process.argv[2] ?? 'What is the status of ticket T-17?').result;
console.log(text);
await agent.close();
