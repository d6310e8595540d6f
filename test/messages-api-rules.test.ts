import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import {
  FAULT_KINDS,
  MESSAGES_HTTP_RULES,
  MESSAGES_MEMORY_RULES,
  MESSAGES_REQUEST_RULES,
  type RuleFacts,
} from '../src/testing/index.ts';
import { KEPT, type Kept, PROPERTY_TESTS, type Written } from './rules-kept/table.ts';

const PROPERTIES = {
  histories: `a change of one thing breaks it in [histories](#how-bridle-keeps-them)`,
  setups: `[agents as they are set up](#how-bridle-keeps-them)`,
};

/** The test that shows that Bridle keeps a rule. */
function keptBy(id: string): string {
  const kept = KEPT.get(id);
  if (kept === undefined) return '';
  switch (kept.by) {
    case 'test':
      return `\`${kept.file}\` “${kept.title}…”`;
    case 'never':
      return `Bridle writes no ${kept.what.map(nameOf).join(', ')}: looked for by [both](#how-bridle-keeps-them)`;
    default:
      return PROPERTIES[kept.by];
  }
}

function nameOf(what: Written): string {
  if ('type' in what) return `\`type\` like \`${what.type.source.replaceAll('|', '\\|')}\``;
  return `\`${'field' in what ? what.field : what.key}\``;
}

const page = fileURLToPath(new URL('../docs/messages-api-rules.md', import.meta.url));
const KINDS = { sdk: 'SDK', docs: 'documentation', report: 'published answer', assumed: 'assumed' } as const;

function table(rules: readonly RuleFacts[]): string {
  const rows = rules.map(({ id, refuses, source, status = 400, errorCode }) => {
    const code = errorCode === undefined ? '' : ` \`${errorCode}\``;
    const where = source.where.replaceAll('|', '\\|');
    return `| \`${id}\` | ${refuses} | ${status}${code} | ${KINDS[source.kind]}: ${where} | ${keptBy(id)} |`;
  });
  return [
    '| rule | a request is refused … | status | known from | Bridle keeps it |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function keptCount(by: Kept['by']): number {
  return [...KEPT.values()].filter((kept) => kept.by === by).length;
}

function counts(): string {
  const all: readonly RuleFacts[] = [...MESSAGES_HTTP_RULES, ...MESSAGES_REQUEST_RULES, ...MESSAGES_MEMORY_RULES];
  const of = (kind: RuleFacts['source']['kind']): number => all.filter(({ source }) => source.kind === kind).length;
  return (
    `${all.length} rules: ${of('sdk')} from types and error classes of the official SDK, ${of('docs')} from pages of the ` +
    `documentation, ${of('report')} from\nanswers of the API that somebody published, ${of('assumed')} assumed.`
  );
}

/** The page as the rules say it. `UPDATE_DOCS=1` writes it. */
function written(): string {
  return `# The rules of the Messages API

\`\`\`sh
npm run double:verify
\`\`\`

What the double of [test offline](test-offline.md) refuses, and \`checkMessagesRequest\` with it. ${counts()}
They stand as documented until the command above has held them to the real API. Each brings the least request that breaks it
and one that keeps it (\`MESSAGES_REQUEST_RULES\`); \`src/testing/rules/rules.test.ts\` shows of each that it refuses the first,
alone, and takes the second (\`src/testing/double/http.test.ts\` and \`memory.test.ts\` for the first and the last table). This page
is written from them.

## How Bridle keeps them

The last column says which test shows that what an agent sends keeps the rule (\`test/rules-kept/table.ts\`). It is one of these:

- **histories**, \`${PROPERTY_TESTS.histories[0]}\`: each request of thousands of conversations, with calls that fail, crashes and
  forks, is held to every rule. For the rules that it answers for, \`test/rules-kept.test.ts\` changes one thing in such requests
  until the rule is broken: where no change breaks it, the property would show nothing, and the test fails.
- **agents as they are set up**, \`${PROPERTY_TESTS.setups[0]}\`: agents of any options and tools, over the real client, against the
  double; what the rule looks at has been among their requests.
- **Bridle writes no …**: it can't break the rule by itself. Both property tests look for that in each request, and without it
  the rule's own breach is taken. What the option \`request\` of a model adds is its caller's.
- a test by its file and title. That it is there is checked.

Of the ${KEPT.size} rules, ${keptCount('histories')} are kept by the first, ${keptCount('setups')} by the second, ${keptCount('never')} by the third, and ${keptCount('test')} by a test of their own.

## Of the request

${table(MESSAGES_HTTP_RULES)}

## Of the body

${table(MESSAGES_REQUEST_RULES)}

## Of what was given out before

${table(MESSAGES_MEMORY_RULES)}
`;
}

test('the page of rules is as the rules are', () => {
  if (process.env.UPDATE_DOCS === '1') writeFileSync(page, written());
  expect(existsSync(page) && readFileSync(page, 'utf8')).toBe(written());
});

test('the page on testing names every fault', () => {
  const text = readFileSync(fileURLToPath(new URL('../docs/test-offline.md', import.meta.url)), 'utf8');
  expect([...FAULT_KINDS.keys()].filter((kind) => !text.includes(`\`${kind}\``))).toEqual([]);
});
