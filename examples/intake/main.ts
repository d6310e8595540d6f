/** Takes in the sample documents: `node main.js`, or with a model of your own, `node main.js claude-sonnet-5-5`. */
import { DOCUMENTS } from './documents.ts';
import { intake } from './intake.ts';
import { samplePlay } from './script.ts';

const model = process.argv[2] ?? samplePlay();
for (const document of DOCUMENTS) {
  for (const entry of await intake(document, model)) {
    const { attempts, ...told } = entry;
    console.log(JSON.stringify(told));
    for (const { issues, isTaken } of attempts) {
      if (!isTaken) console.log(`  tried again: ${issues.map(({ path, message }) => `${path} ${message}`).join('; ')}`);
    }
  }
}
