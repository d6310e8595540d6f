import { expect, test } from 'vitest';
import type { ListedAgent } from '../host/index.ts';
import { agentNamed } from './agent-option.ts';

test('a file named as the agent without one stops whoever names it, and nobody else', () => {
  const source = { file: '/p/.claude/agents/main.md', line: 2 };
  const reason = { room: 'host', code: 'agent_name_taken', text: 'Give it another name.', source };
  const agents: readonly ListedAgent[] = [{ source, state: 'refused', reasons: [reason] }];
  expect(() => agentNamed('main', { agents })).toThrow(expect.objectContaining({ code: 'agent_unusable' }));
  expect(agentNamed(undefined, { agents })).toBeUndefined();
  expect(agentNamed('main', { agents: [] })).toBeUndefined();
});
