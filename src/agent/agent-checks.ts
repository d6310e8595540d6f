/** Rule of this file: a wrong option is told at once, with what to do about it, and never in the middle of a run. */
import type { Json, Model, ToolDefinition } from '../contracts/index.ts';
import { costOf } from '../models/index.ts';
import { BridleError } from '../tools/index.ts';
import { contentBlocks, isBlank, isBlock, isObject } from './blocks.ts';
import { type RunLimits, wrongLimits } from './limits.ts';
import { awaitsReply } from './system-note.ts';

export function checkLimits(limits: RunLimits | undefined, model: Model): void {
  const wrong = wrongLimits(limits ?? {});
  if (wrong.length > 0) {
    const names = wrong.map((name) => `limits.${name}`).join(', ');
    throw new BridleError('limits_invalid', `${names} must be a number above zero.`, {
      hint: 'Leave a limit out to have its default.',
    });
  }
  if (limits?.costUsd !== undefined && costOf(model.id, {}) === undefined) {
    throw new BridleError('cost_unknown', `limits.costUsd can't be kept: no price is known for model "${model.id}".`, {
      hint: 'Limit its tokens instead.',
    });
  }
}

export function checkNames(tools: readonly ToolDefinition[], reserved: readonly string[]): void {
  const taken = tools.find((tool) => reserved.includes(tool.ref.name));
  if (taken === undefined) return;
  throw new BridleError('tool_name_taken', `A tool is named "${taken.ref.name}", which is Bridle's own name here.`, {
    hint: 'Give your tool another name.',
  });
}

export function checkInput(input: string | Json[], before: readonly Json[]): void {
  const isEmpty = contentBlocks(input).every(isBlank);
  if (isEmpty && !awaitsReply(before)) {
    throw new BridleError('input_empty', 'There is nothing to do: the input is empty.', {
      hint: 'Say what the agent is to do.',
    });
  }
  if (typeof input !== 'string' && input.some((block) => !isObject(block) || isBlock(block, 'tool_result'))) {
    throw new BridleError('input_invalid', 'The input holds something that is not a content block of a user.', {
      hint: "Pass text, or Messages API blocks such as text, image or document. Results of calls are the loop's.",
    });
  }
}
