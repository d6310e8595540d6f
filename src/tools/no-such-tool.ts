import type { Outcome } from '../contracts/index.ts';
import { printable } from './printable.ts';

/** Longest name in the answer: a name that no tool has is the model's own text. */
const LONGEST = 80;

/**
 * How a call ends of a tool that doesn't exist, or that the caller may not see: the same for both, and nothing in it but
 * the name, so that a conversation that is read again can be told to have learned nothing from it.
 */
export function noSuchTool(name: string): Outcome {
  const shown = printable(name, { maxLength: LONGEST });
  const text = `There is no tool named "${shown}" here. Use only the tools that were listed, by their exact names.`;
  return { kind: 'unknown_tool', reasons: [{ room: 'dispatch', code: 'unknown_tool', text }] };
}
