import { memoryRecorder, type RunEvent } from 'bridle';
import { scriptedModel } from 'bridle/testing';
import { expect, test } from 'vitest';
import { scriptedTeam } from './script.ts';
import { researchTeam } from './team.ts';

function toolsOf(request: { readonly tools?: unknown } | undefined): readonly string[] {
  return ((request?.tools ?? []) as { readonly name: string }[]).map(({ name }) => name);
}

test('each role has its own tools: who leads looks nothing up, who writes only checks figures', async () => {
  const models = scriptedTeam();
  const recorder = memoryRecorder();
  const agent = await researchTeam(models, { recorder });
  const result = await agent.run('How much did the harbour and its railway carry in 2031?').result;
  expect(result).toMatchObject({ end: 'answered', calls: 3 });
  expect(result.text).toContain('4.2 million');
  expect(toolsOf(models.researcher.requests[0])).toEqual(['search_archive', 'read_page']);
  expect(toolsOf(models.writer.requests[0])).toEqual(['verify_fact']);
  const of = (name: string) => recorder.outcomes.flatMap(({ who, name: tool }) => (who.agent === name ? [tool] : []));
  expect(of('lead')).toEqual(['start_researcher', 'start_researcher', 'start_writer']);
  expect(of('writer')).toEqual(['verify_fact', 'verify_fact']);
  await agent.close();
});

test('verify_fact confirms a figure or gives the right one, and brings in no text of a page', async () => {
  const models = scriptedTeam();
  const answers: string[] = [];
  const onProgress = (event: RunEvent) => {
    const inner = event.type === 'subagent' && event.agent === 'writer' ? event.event : event;
    if (inner !== event && inner.type === 'outcome' && inner.outcome.kind === 'ok')
      answers.push(inner.outcome.raw.text);
  };
  const agent = await researchTeam(models, { onProgress });
  await agent.run('How much did the harbour and its railway carry in 2031?').result;
  expect(answers).toHaveLength(2);
  expect(answers.join()).toContain('confirmed');
  expect(answers.join()).toMatch(/contradicted.*1\.1 million/);
  expect(answers.join()).not.toContain('second track');
  await agent.close();
});

test('who leads may not look things up, even when it tries', async () => {
  const { researcher, writer } = scriptedTeam();
  const lead = scriptedModel([{ calls: [{ name: 'read_page', input: { id: 'harbour-2031' } }] }, 'I may not.']);
  const recorder = memoryRecorder();
  const agent = await researchTeam({ lead, researcher, writer }, { recorder });
  await agent.run('How much?').result;
  expect(recorder.outcomes[0]?.outcome.kind).not.toBe('ok');
  await agent.close();
});
