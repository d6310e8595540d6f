/** Marks by which models are told where a document ends or who speaks; tags of these names and the special tokens. */
const TAG =
  /<(?=\/?\s*(?:[a-z]+:)?(?:documents?|document_contents?|sources?|system|system[-_]reminder|user|assistant|human|tool_use|tool_results?|function_calls|function_results|invoke|parameter|instructions)\b)/gi;
const TOKEN = /<(?=\||\|?(?:begin|end|start)_of_|\/?s>|<\/?SYS>)/gi;
const INST = /\[(?=\/?INST\]|Note from the harness)/gi;
/** A speaker's name at the beginning of a paragraph. */
const SPEAKER = /(^|\n[ \t]*\r?\n[ \t]*)(human|assistant|system|user)(?=:)/gi;
/** Control characters but tab and line ends, marks that reorder text, and tag characters, which nobody sees. */
const UNSEEN = /[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e0fff}]/gu;

/**
 * Text from outside as it may stand in a document block: it can't pretend that the block ends, or that somebody else
 * speaks. What it says stays readable: `</document>` becomes `&lt;/document>`, `Human:` at the beginning of a paragraph
 * `Human :`. Doing it twice changes nothing more.
 */
export function neutralise(text: string): string {
  return text
    .replace(UNSEEN, '')
    .replace(TAG, '&lt;')
    .replace(TOKEN, '&lt;')
    .replace(INST, '&#91;')
    .replace(SPEAKER, '$1$2 ');
}
