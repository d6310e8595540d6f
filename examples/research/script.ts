import { type ScriptedModel, scriptedModel } from 'bridle/testing';

const FINDINGS =
  'Write up: the harbour handled 4.2 million tonnes (harbour-2031), the railway carried 1.1 million (railway-2031).';
const TEXT = 'In 2031 the harbour handled 4.2 million tonnes, of which its railway carried 1.1 million.';

/** What the models of the team would say: both researchers are sent out in one reply, and the writer checks a figure. */
export function scriptedTeam(): { lead: ScriptedModel; researcher: ScriptedModel; writer: ScriptedModel } {
  const start = (agent: string, task: string) => ({ name: `start_${agent}`, input: { task } });
  return {
    lead: scriptedModel([
      {
        calls: [
          start('researcher', 'What did the harbour handle in 2031?'),
          start('researcher', 'What did the railway to the harbour carry in 2031?'),
        ],
      },
      { calls: [start('writer', FINDINGS)] },
      TEXT,
    ]),
    // Two of them work at once, so what is said goes by what was asked.
    researcher: scriptedModel([research, research, research, research, research, research]),
    writer: scriptedModel([
      {
        calls: [
          { name: 'verify_fact', input: { subject: 'harbour tonnes 2031', value: '4.2 million' } },
          { name: 'verify_fact', input: { subject: 'railway tonnes 2031', value: '1.2 million' } },
        ],
      },
      TEXT,
    ]),
  };
}

function research(request: { readonly messages?: unknown }) {
  const messages = Array.isArray(request.messages) ? request.messages : [];
  const topic = JSON.stringify(messages[0]).includes('railway') ? 'railway' : 'harbour';
  if (messages.length === 1) return { calls: [{ name: 'search_archive', input: { words: `${topic} 2031` } }] };
  if (messages.length === 3) return { calls: [{ name: 'read_page', input: { id: `${topic}-2031` } }] };
  return topic === 'railway'
    ? 'It carried 1.1 million tonnes (railway-2031).'
    : 'It handled 4.2 million (harbour-2031).';
}
