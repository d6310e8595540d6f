import type { Json, JsonObject } from '../contracts/index.ts';
import { contentBlocks, isBlock, isObject, isStringList } from './blocks.ts';
import type { RequestPart } from './request.ts';

/** The provider's advisor (Messages API, "Advisor tool") is taken under this beta alone. */
const BETA = 'advisor-tool-2026-03-01';

/** The beta of an advisor that is declared; where none is, what one said before is left out, as the API refuses it. */
export const advisorPart: RequestPart = (_state, body) => {
  const tools = Array.isArray(body.tools) ? body.tools : [];
  if (tools.some((tool) => isObject(tool) && String(tool.type).startsWith('advisor_'))) {
    const others = isStringList(body.betas) ? body.betas : [];
    return { ...body, betas: [...others, BETA] };
  }
  const messages = Array.isArray(body.messages) ? body.messages : [];
  if (!messages.some((message) => contentOf(message).some(isAdvice))) return body;
  return { ...body, messages: messages.map(withoutAdvice) };
};

function withoutAdvice(message: Json): Json {
  const content = contentOf(message);
  const left = content.filter((block) => !isAdvice(block));
  if (!isObject(message) || left.length === content.length) return message;
  return { ...message, content: left.length === 0 ? [GONE] : [...left] };
}

const GONE: JsonObject = { type: 'text', text: '(I asked an advisor that is not there any more.)' };

function contentOf(message: Json): readonly Json[] {
  return isObject(message) ? contentBlocks(message.content) : [];
}

function isAdvice(block: Json): boolean {
  return isBlock(block, 'advisor_tool_result') || (isBlock(block, 'server_tool_use') && block.name === 'advisor');
}
