import { type AnswerCheck, createAgent, type ExtractionAttempt, extract, type Json, type Model } from 'bridle';
import { contract, invoice, UNITS } from './records.ts';

/** A document as it came in. */
export interface IncomingDocument {
  readonly id: string;
  readonly pages: readonly string[];
  /** What it is, where somebody who may say so has said it. Never taken from the document's own words. */
  readonly verified?: { readonly type: 'contract' | 'invoice'; readonly by: string };
}

/** What became of one document, or of one that a bundle holds. */
export interface IntakeEntry {
  readonly document: string;
  /** E.g. `pages 1-2`. */
  readonly unit: string;
  /** Absent where none of the types fits, or nothing could be read. */
  readonly type?: string;
  readonly classification: 'verified' | 'chosen' | 'none';
  readonly reason: string;
  readonly status: 'extracted' | 'incomplete' | 'invalid' | 'none';
  readonly record?: Json;
  /** JSON Pointers to what the document doesn't say. */
  readonly missing: readonly string[];
  readonly attempts: readonly ExtractionAttempt[];
}

/**
 * Takes the records from a document. One whose type is verified is dispatched by it; of any other the units are found
 * first, and the model chooses a type for each by what the types say of themselves.
 */
export async function intake(document: IncomingDocument, model: Model | string): Promise<readonly IntakeEntry[]> {
  const whole = { first_page: 1, last_page: document.pages.length };
  const isBundle = document.verified === undefined && document.pages.length > 1;
  const units = isBundle ? await unitsOf(document, model) : [whole];
  const entries: IntakeEntry[] = [];
  for (const { first_page, last_page } of units) {
    const { verified } = document;
    const found = await extract({
      model,
      input: document.pages.slice(first_page - 1, last_page).join('\n\n'),
      types: [contract, invoice],
      ...(verified !== undefined && { verified }),
    });
    const { status, type, value, missing, reason, attempts } = found;
    entries.push({
      document: document.id,
      unit: first_page === last_page ? `page ${first_page}` : `pages ${first_page}-${last_page}`,
      ...(type !== undefined && { type }),
      classification: verified !== undefined ? 'verified' : type === undefined ? 'none' : 'chosen',
      reason,
      status,
      ...(value !== undefined && { record: value }),
      missing: missing.map(({ path }) => path),
      attempts,
    });
  }
  return entries;
}

interface Unit {
  readonly first_page: number;
  readonly last_page: number;
}

/** @throws Error when the bundle can't be taken apart */
async function unitsOf({ id, pages }: IncomingDocument, model: Model | string): Promise<readonly Unit[]> {
  const agent = await createAgent({ model, output: { schema: UNITS, check: inOrder(pages.length) } });
  const text = pages.map((page, at) => `[page ${at + 1}]\n${page}`).join('\n\n');
  const { output, end } = await agent.run([
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } },
    { type: 'text', text: 'This file may hold several documents. Give the pages of each, in order.' },
  ]).result;
  await agent.close();
  const value = output?.value as { readonly units: readonly Unit[] } | undefined;
  if (value === undefined) throw new Error(`The documents in ${id} could not be told apart: the run ended as ${end}.`);
  return value.units;
}

/** Each page belongs to one document, and none is left over. */
function inOrder(pages: number): AnswerCheck<{ readonly units: readonly Unit[] }> {
  return ({ units }) => {
    let next = 1;
    for (const [at, { first_page, last_page }] of units.entries()) {
      if (first_page !== next || last_page < first_page) {
        return { path: `/units/${at}`, message: `is pages ${first_page} to ${last_page}, and page ${next} comes next` };
      }
      next = last_page + 1;
    }
    return next === pages + 1 ? undefined : { path: '/units', message: `ends before page ${pages}, the last one` };
  };
}
