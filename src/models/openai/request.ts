import type { Json, JsonObject } from '../../contracts/index.ts';
import { BridleError } from '../../tools/index.ts';
import { arrayOf, isObject, stringOf } from '../json-shape.ts';
import { describeBlock, imageUrl } from './describe.ts';

/**
 * A Messages API request as a chat completions request.
 *
 * Not carried over, because the other side has no place for it: thinking and its blocks, cache marks, `strict` (its
 * rules differ there), deferred loading (every tool is sent).
 *
 * @throws BridleError `model_tool_unsupported` for a tool that only Anthropic's servers can run
 */
export function toChatRequest(request: JsonObject, options: { readonly tokensField: string }): JsonObject {
  const tools = arrayOf(request.tools).map(toFunction);
  const choice = isObject(request.tool_choice) ? request.tool_choice : undefined;
  const stop = arrayOf(request.stop_sequences);
  const format = isObject(request.output_config) ? request.output_config.format : undefined;
  return {
    messages: [...systemMessages(request.system), ...arrayOf(request.messages).flatMap(toChatMessages)],
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && choice && { tool_choice: toToolChoice(choice) }),
    ...(tools.length > 0 && choice?.disable_parallel_tool_use === true && { parallel_tool_calls: false }),
    ...(request.max_tokens !== undefined && { [options.tokensField]: request.max_tokens }),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.top_p !== undefined && { top_p: request.top_p }),
    ...(stop.length > 0 && { stop: [...stop] }),
    ...(isObject(format) &&
      format.type === 'json_schema' && {
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema ?? {} } },
      }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** Tools that Anthropic defines, and the client runs. */
const RUN_HERE = /^(?:(?:computer|browser)_toolset|computer|bash|text_editor|memory)_\d{8}$/;

function toFunction(tool: Json): JsonObject {
  if (!isObject(tool) || !isObject(tool.input_schema)) {
    const kind = isObject(tool) ? stringOf(tool.type) || stringOf(tool.name) : 'nameless';
    const what = RUN_HERE.test(kind)
      ? `The tool ${kind} is run here, but only Claude models know it: its schema is theirs`
      : `The tool ${kind} is run by Anthropic's servers, and this model is served by someone else`;
    throw new BridleError('model_tool_unsupported', `${what}.`, {
      hint: 'Take the tool out for this model, or use a Claude model.',
    });
  }
  const examples = arrayOf(tool.input_examples).map((example) => `Example input: ${JSON.stringify(example)}`);
  const description = [stringOf(tool.description), ...examples].filter((line) => line !== '').join('\n');
  return {
    type: 'function',
    function: {
      name: tool.name ?? '',
      ...(description !== '' && { description }),
      parameters: tool.input_schema,
    },
  };
}

function toToolChoice(choice: JsonObject): Json {
  switch (choice.type) {
    case 'any':
      return 'required';
    case 'tool':
      return { type: 'function', function: { name: choice.name ?? '' } };
    case 'none':
      return 'none';
    default:
      return 'auto';
  }
}

function systemMessages(system: Json | undefined): readonly JsonObject[] {
  const text = textOf(system);
  return text === '' ? [] : [{ role: 'system', content: text }];
}

function toChatMessages(message: Json): readonly JsonObject[] {
  if (!isObject(message)) return [];
  switch (message.role) {
    case 'assistant':
      return assistantMessages(message.content);
    case 'system':
      return systemMessages(message.content);
    default:
      return userMessages(message.content);
  }
}

const THOUGHT = new Set<unknown>(['thinking', 'redacted_thinking']);

function assistantMessages(content: Json | undefined): readonly JsonObject[] {
  if (typeof content === 'string') return [{ role: 'assistant', content }];
  const texts: string[] = [];
  const calls: JsonObject[] = [];
  for (const block of arrayOf(content)) {
    if (!isObject(block) || THOUGHT.has(block.type)) continue;
    if (block.type === 'tool_use') {
      calls.push({
        id: block.id ?? '',
        type: 'function',
        function: { name: block.name ?? '', arguments: JSON.stringify(block.input ?? {}) },
      });
    } else {
      texts.push(describeBlock(block));
    }
  }
  if (texts.length === 0 && calls.length === 0) return [];
  // An empty string rather than null beside calls: chat templates of local servers print null as a word.
  return [{ role: 'assistant', content: texts.join('\n'), ...(calls.length > 0 && { tool_calls: calls }) }];
}

/** Results become `tool` messages, which carry only text; their images follow in the user message after them. */
function userMessages(content: Json | undefined): readonly JsonObject[] {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const results: JsonObject[] = [];
  const parts: JsonObject[] = [];
  for (const block of arrayOf(content)) {
    if (!isObject(block)) continue;
    if (block.type === 'tool_result') {
      const { text, images } = resultParts(block);
      results.push({ role: 'tool', tool_call_id: block.tool_use_id ?? '', content: text });
      parts.push(...images);
    } else {
      parts.push(userPart(block));
    }
  }
  if (parts.length === 0) return results;
  const onlyText = parts.every((part) => part.type === 'text');
  const user: Json = onlyText ? parts.map((part) => stringOf(part.text)).join('\n\n') : parts;
  return [...results, { role: 'user', content: user }];
}

function userPart(block: JsonObject): JsonObject {
  const url = block.type === 'image' ? imageUrl(block) : undefined;
  return url === undefined ? { type: 'text', text: describeBlock(block) } : { type: 'image_url', image_url: { url } };
}

function resultParts(block: JsonObject): { readonly text: string; readonly images: readonly JsonObject[] } {
  const id = stringOf(block.tool_use_id);
  const texts: string[] = [];
  const images: JsonObject[] = [];
  const content = typeof block.content === 'string' ? [{ type: 'text', text: block.content }] : arrayOf(block.content);
  for (const part of content) {
    const url = isObject(part) && part.type === 'image' ? imageUrl(part) : undefined;
    if (url === undefined) {
      texts.push(describeBlock(part));
    } else {
      texts.push('[an image, shown in the next message]');
      images.push({ type: 'text', text: `Image from the result of tool call ${id}:` });
      images.push({ type: 'image_url', image_url: { url } });
    }
  }
  const text = texts.join('\n');
  return { text: block.is_error === true ? `Error: ${text}` : text, images };
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return arrayOf(content).map(describeBlock).join('\n\n');
}

/** The ids of all calls in a conversation, so that a reply can't use one again. */
export function callIds(request: JsonObject): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const message of arrayOf(request.messages)) {
    for (const block of isObject(message) ? arrayOf(message.content) : []) {
      if (isObject(block) && block.type === 'tool_use') ids.add(stringOf(block.id));
    }
  }
  return ids;
}
