/** What the team can look things up in: a few pages with figures. A real one would ask a search engine and a database. */
export interface Page {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly figures: Readonly<Record<string, string>>;
}

export const ARCHIVE: readonly Page[] = [
  {
    id: 'harbour-2031',
    title: 'Harbour report 2031',
    text: 'In 2031 the harbour handled 4.2 million tonnes, a tenth more than the year before. Two cranes were added.',
    figures: { 'harbour tonnes 2031': '4.2 million', 'harbour cranes added 2031': '2' },
  },
  {
    id: 'railway-2031',
    title: 'Railway report 2031',
    text: 'The freight line to the harbour carried 1.1 million tonnes in 2031. Work on the second track goes on.',
    figures: { 'railway tonnes 2031': '1.1 million' },
  },
];

/** Pages that hold one of the words at least, those with most of them first. */
export function search(words: string): readonly Pick<Page, 'id' | 'title'>[] {
  const wanted = words
    .toLowerCase()
    .split(/\W+/)
    .filter((word) => word !== '');
  const hits = ({ title, text }: Page) =>
    wanted.filter((word) => `${title} ${text}`.toLowerCase().includes(word)).length;
  return ARCHIVE.filter((page) => hits(page) > 0)
    .sort((a, b) => hits(b) - hits(a))
    .map(({ id, title }) => ({ id, title }));
}

/** The figure of a subject, and the page that it stands on. */
export function figureOf(subject: string): { readonly value: string; readonly page: string } | undefined {
  for (const { id, figures } of ARCHIVE) {
    const found = new Map(Object.entries(figures)).get(subject.toLowerCase());
    if (found !== undefined) return { value: found, page: id };
  }
  return undefined;
}
