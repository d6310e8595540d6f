/**
 * Rule of this folder: it ranks texts and knows nothing of what they describe. No tools, no schemas, no imports.
 */
export { createIndex, type IndexedDocument, type IndexedField, type SearchHit, type SearchIndex } from './bm25.ts';
export { stem } from './stem.ts';
export { splitWords, tokenize } from './tokenize.ts';
