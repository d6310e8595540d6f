export const DOCUMENT_PAGES: ReadonlyMap<string, string> = new Map([
  ['/acme/plan.md', '# Plan\n\nAcme opens in Lisbon in May.\n'],
  ['/acme/prices.md', '# Prices\n\nAn anvil is 120.00 EUR.\n'],
  ['/globex/plan.md', '# Plan\n\nGlobex hires ten people.\n'],
  ['/globex/merger.md', '# Merger\n\nGlobex talks with Initech.\n'],
]);

export const HELP_PAGES: ReadonlyMap<string, string> = new Map([
  ['/help/start', '# Start\n\nAsk for a document by its id.\n'],
]);
