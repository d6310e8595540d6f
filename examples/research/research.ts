/**
 * A question for a team of agents. Without a model it plays a script; `node dist/examples/research/research.js MODEL` asks
 * a real one.
 */
import { scriptedTeam } from './script.ts';
import { researchTeam } from './team.ts';

const QUESTION = 'How much did the harbour and its railway carry in 2031?';

const model = process.argv[2];
const models = model === undefined ? scriptedTeam() : { lead: model, researcher: model, writer: model };
const agent = await researchTeam(models, {
  onProgress(event) {
    if (event.type === 'call') console.error(`lead calls ${event.name}`);
    if (event.type === 'subagent' && event.event.type === 'call')
      console.error(`${event.agent} calls ${event.event.name} ${JSON.stringify(event.event.args)}`);
  },
});
const { text, usage } = await agent.run(QUESTION).result;
console.log(text);
console.error(`${usage.inputTokens + usage.outputTokens} tokens in all`);
await agent.close();
