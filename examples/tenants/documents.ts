/** Whose documents are where: what the caller's identity is held against, and never an argument. */
export interface Documents {
  /** The registered documents of the caller's tenant, by id; none for whoever belongs to no tenant. */
  of(user: string | undefined): Readonly<Record<string, string>>;
}

const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['ada', 'acme'],
  ['emil', 'acme'],
  ['gina', 'globex'],
]);

/** @param site where the documents are, such as `http://127.0.0.1:8080` */
export function createDocuments(site: string): Documents {
  const registered: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map([
    ['acme', { plan: `${site}/acme/plan.md`, prices: `${site}/acme/prices.md`, moved: `${site}/acme/moved.md` }],
    ['globex', { plan: `${site}/globex/plan.md`, merger: `${site}/globex/merger.md` }],
  ]);
  return { of: (user) => registered.get(MEMBERS.get(user ?? '') ?? '') ?? {} };
}
