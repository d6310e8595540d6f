/** `npm run build`: compiles `src` to `dist`, and the examples to `dist/examples`. */
import { build, checkNode, ensureInstalled } from './ensure.mjs';

checkNode();
ensureInstalled();
build();
