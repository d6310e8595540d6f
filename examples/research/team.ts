import { type Agent, type AgentOptions, createAgent, defineTool, type Model, ToolFailure } from 'bridle';
import { ARCHIVE, figureOf, search } from './archive.ts';

const searchArchive = defineTool(
  {
    name: 'search_archive',
    description: 'Finds pages by words. Gives their ids and titles; read_page gives the text.',
    input: { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] },
    annotations: { readOnlyHint: true },
  },
  ({ words }) => search(words),
);

const readPage = defineTool(
  {
    name: 'read_page',
    description: 'Reads a page that search_archive found.',
    input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    annotations: { readOnlyHint: true, openWorldHint: true },
  },
  ({ id }) => {
    const page = ARCHIVE.find((each) => each.id === id);
    if (!page) throw new ToolFailure(`There is no page "${id}". Find one with search_archive.`);
    return page.text;
  },
);

/**
 * A tool across roles: the writer checks a figure at once, where it would have to go back to the researcher for it. It is
 * no search: it says whether one figure is as written and where it stands, and brings in no text of a page.
 */
const verifyFact = defineTool(
  {
    name: 'verify_fact',
    description:
      'Checks one figure against the archive: confirmed, contradicted (with the right value) or not found. ' +
      'For anything but a single figure, say in the answer what has to be looked up.',
    input: {
      type: 'object',
      properties: {
        subject: { type: 'string', description: 'What the figure is of, e.g. "harbour tonnes 2031".' },
        value: { type: 'string', description: 'The figure as it is to be written.' },
      },
      required: ['subject', 'value'],
    },
    annotations: { readOnlyHint: true },
  },
  ({ subject, value }) => {
    const known = figureOf(subject);
    if (!known) return { verdict: 'not found' };
    if (known.value === value) return { verdict: 'confirmed', page: known.page };
    return { verdict: 'contradicted', value: known.value, page: known.page };
  },
);

export interface TeamModels {
  readonly lead: Model | string;
  readonly researcher: Model | string;
  readonly writer: Model | string;
}

/** A lead that sends researchers out side by side, and has a writer put together what they found. */
export function researchTeam(
  models: TeamModels,
  more: Pick<AgentOptions, 'onProgress' | 'recorder'> = {},
): Promise<Agent> {
  return createAgent({
    ...more,
    name: 'lead',
    model: models.lead,
    system:
      'Split the question into parts that can be looked up apart, start a researcher for each in one reply, and give ' +
      'all that they found to the writer.',
    tools: [searchArchive, readPage, verifyFact],
    permissions: {
      allow: ['search_archive', 'read_page', 'verify_fact'],
      // The lead decides what is looked up, and looks nothing up itself.
      deny: ['search_archive', 'read_page', 'verify_fact'].map((tool) => ({ tool, when: { agent: 'lead' } })),
    },
    subagents: [
      {
        name: 'researcher',
        description: 'Looks one thing up in the archive. Its task has to say what to find out.',
        instructions: 'Find out what you are asked. Name the page of every figure. Say so when you find nothing.',
        tools: ['search_archive', 'read_page'],
        model: models.researcher,
        limits: { turns: 8 },
      },
      {
        name: 'writer',
        description: 'Writes a short text from findings. Its task has to hold all findings with their pages.',
        instructions: 'Write three sentences at most. Check each figure with verify_fact before you write it.',
        tools: ['verify_fact'],
        model: models.writer,
        limits: { turns: 8 },
      },
    ],
  });
}
