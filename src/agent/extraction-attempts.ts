import type { Json, JsonObject } from '../contracts/index.ts';
import { type AnswerIssue, mendable } from './answer-check.ts';
import { contentBlocks, isBlock, isObject } from './blocks.ts';
import type { ExtractionTools } from './extraction-tools.ts';

/** One call that gave a record. */
export interface ExtractionAttempt {
  readonly type: string;
  /** As the model gave it. */
  readonly value: Json;
  /** Why the model took this type. */
  readonly reason: string;
  readonly issues: readonly AnswerIssue[];
  /** Whether it was taken: nothing is wrong with it that the model could put right. */
  readonly isTaken: boolean;
}

/** Every attempt of a conversation, in order: those that no check ever saw are told by the result of their call. */
export function attemptsOf(messages: readonly Json[], tools: ExtractionTools): readonly ExtractionAttempt[] {
  const blocks = messages.flatMap((message) => (isObject(message) ? contentBlocks(message.content) : []));
  const results = new Map<string, JsonObject>();
  for (const block of blocks) {
    if (isObject(block) && isBlock(block, 'tool_result')) results.set(String(block.tool_use_id), block);
  }
  return blocks.flatMap((block): ExtractionAttempt[] => {
    if (!isObject(block) || !isBlock(block, 'tool_use') || !isObject(block.input)) return [];
    const type = tools.typeOf(String(block.name));
    if (type === undefined) return [];
    const id = String(block.id);
    const issues = tools.found.get(id);
    const isTaken = issues !== undefined && mendable(issues).length === 0;
    const told = issues ?? [{ path: '', message: descriptionOf(results.get(id)) }];
    return [{ type, ...tools.recordOf(block.input), issues: told, isTaken }];
  });
}

function descriptionOf(result: JsonObject | undefined): string {
  const text = contentBlocks(result?.content)
    .flatMap((block) => (isObject(block) && typeof block.text === 'string' ? [block.text] : []))
    .join('');
  try {
    const { description } = JSON.parse(text) as { description?: unknown };
    if (typeof description === 'string') return description;
  } catch {
    // Then it is told as it is.
  }
  return text === '' ? 'It was not taken.' : text;
}
