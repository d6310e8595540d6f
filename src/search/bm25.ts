import { tokenize } from './tokenize.ts';

export interface IndexedField {
  readonly text: string;
  /** How much one occurrence here counts beside one in a field of weight 1. */
  readonly weight: number;
}

export interface IndexedDocument {
  readonly id: string;
  readonly fields: readonly IndexedField[];
}

export interface SearchHit {
  readonly id: string;
  /** Greater than 0; comparable within one search only. */
  readonly score: number;
}

export interface SearchIndex {
  /**
   * @param query any text
   * @param k the most hits to return
   * @returns documents that share at least one term with the query, best first; equal scores keep the order of `docs`
   */
  search(query: string, k: number): readonly SearchHit[];
}

/** Saturation of term frequency, and how far length counts: the customary values. */
const K1 = 1.2;
const B = 0.75;

interface Posting {
  readonly doc: number;
  /** Occurrences, each multiplied by its field's weight. */
  readonly frequency: number;
}

/**
 * Builds an in-memory BM25 index over weighted fields (Robertson and Zaragoza, "The Probabilistic Relevance Framework:
 * BM25 and Beyond", 2009; weighted term frequencies are added up before saturation).
 *
 * @param docs documents with unique ids; later changes to them are not seen
 */
export function createIndex(docs: readonly IndexedDocument[]): SearchIndex {
  const postings = new Map<string, Posting[]>();
  const lengths = docs.map((doc, at) => {
    const frequencies = new Map<string, number>();
    let length = 0;
    for (const field of doc.fields) {
      for (const term of tokenize(field.text)) {
        frequencies.set(term, (frequencies.get(term) ?? 0) + field.weight);
        length += field.weight;
      }
    }
    for (const [term, frequency] of frequencies) {
      const list = postings.get(term);
      if (list) list.push({ doc: at, frequency });
      else postings.set(term, [{ doc: at, frequency }]);
    }
    return length;
  });
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, docs.length) || 1;

  return {
    search(query, k) {
      const scores = new Map<number, number>();
      for (const term of new Set(tokenize(query))) {
        const list = postings.get(term);
        if (!list) continue;
        const rarity = Math.log(1 + (docs.length - list.length + 0.5) / (list.length + 0.5));
        for (const { doc, frequency } of list) {
          const norm = K1 * (1 - B + (B * (lengths[doc] ?? 0)) / meanLength);
          scores.set(doc, (scores.get(doc) ?? 0) + (rarity * frequency * (K1 + 1)) / (frequency + norm));
        }
      }
      return [...scores]
        .sort(([docA, a], [docB, b]) => b - a || docA - docB)
        .slice(0, Math.max(0, k))
        .map(([doc, score]) => ({ id: docs[doc]?.id ?? '', score }));
    },
  };
}
