/** `npm start`: makes the clone ready and runs `bridle demo`; arguments after `--` run that bridle command instead. */
import { join } from 'node:path';
import { checkNode, ensureBuilt, ensureInstalled, root, run } from './ensure.mjs';

checkNode();
ensureInstalled();
ensureBuilt();
const args = process.argv.slice(2);
run(process.execPath, [join(root, 'bin', 'bridle.js'), ...(args.length > 0 ? args : ['demo'])]);
