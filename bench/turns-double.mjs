/** The double of the Messages API that `turns.mjs` measures loops against, in a process of its own. */
import { messagesDouble } from 'bridle/testing';

const CITIES = ['Oslo', 'Lima', 'Pune'];

/** As many turns of three calls as the user's words name, then a text. The request itself tells how many there were. */
const turns = {
  async next({ messages }) {
    const [, wanted] = /(\d+) turns/.exec(JSON.stringify(messages[0])) ?? [];
    const done = messages.filter(({ role }) => role === 'assistant').length;
    if (done >= Number(wanted)) return reply('end_turn', [{ type: 'text', text: 'All of them are known.' }]);
    const calls = CITIES.map((city, at) => ({
      type: 'tool_use',
      id: `toolu_${done}_${at}`,
      name: 'get_weather',
      input: { city, day: done },
    }));
    return reply('tool_use', [{ type: 'text', text: 'I look at the next day.' }, ...calls]);
  },
};

function reply(stop_reason, content) {
  return { message: { type: 'message', role: 'assistant', content, stop_reason, stop_sequence: null } };
}

const double = messagesDouble({ turns, keep: 0 });
process.send(await double.start());
process.on('disconnect', () => process.exit(0));
