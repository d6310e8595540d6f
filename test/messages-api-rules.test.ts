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

const page = fileURLToPath(new URL('../docs/messages-api-rules.md', import.meta.url));
const KINDS = { sdk: 'SDK', docs: 'documentation', report: 'published answer', assumed: 'assumed' } as const;

function table(rules: readonly RuleFacts[]): string {
  const rows = rules.map(({ id, refuses, source, status = 400, errorCode }) => {
    const code = errorCode === undefined ? '' : ` \`${errorCode}\``;
    const where = source.where.replaceAll('|', '\\|');
    return `| \`${id}\` | ${refuses} | ${status}${code} | ${KINDS[source.kind]}: ${where} |`;
  });
  return ['| rule | a request is refused … | status | known from |', '|---|---|---|---|', ...rows].join('\n');
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
and one that keeps it (\`MESSAGES_REQUEST_RULES\`), and a test that it refuses the first, alone, and takes the second. This page is
written from them.

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
