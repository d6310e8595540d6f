import type { ReplyCost, RunReport, RunResult } from '../agent/index.ts';
import { counted } from './counted.ts';

const HEAD = ['reply', 'in', 'from cache', 'to cache', 'definitions', 'out', 'USD', 'changed'];

/** What `--report` prints: a row a reply, and what the run comes to. */
export function reportText({ report, usage }: Pick<RunResult, 'report' | 'usage'>): string {
  if (report === undefined) return 'No reply, so no costs.\n';
  const rows = [HEAD, ...report.replies.map(cells)];
  const widths = HEAD.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, at) => pad(cell, widths[at] ?? 0, at))
      .join('  ')
      .trimEnd(),
  );
  return `${[...lines, ...sums(report, usage.costUsd)].join('\n')}\n`;
}

function cells(cost: ReplyCost, at: number): string[] {
  const lost =
    cost.lostTokens === 0 ? '' : `${cost.lostTokens} tokens of the cache lost${dollars(' for ', cost.lostUsd)}`;
  return [
    `${at + 1}`,
    `${cost.inputTokens}`,
    `${cost.cacheReadTokens}`,
    `${cost.cacheWriteTokens}`,
    `~${cost.definitionTokens}`,
    `${cost.outputTokens}`,
    cost.costUsd === undefined ? '?' : cost.costUsd.toFixed(4),
    [...cost.changes, lost].filter(Boolean).join(', '),
  ];
}

/** Numbers stand to the right, words to the left. */
function pad(cell: string, width: number, at: number): string {
  return at === HEAD.length - 1 ? cell : cell.padStart(width);
}

function sums({ tools, definitionsShare, cachedShare, replies }: RunReport, costUsd: number | undefined): string[] {
  const lost = replies.reduce<number | undefined>(
    (sum, { lostUsd }) => (sum === undefined || lostUsd === undefined ? undefined : sum + lostUsd),
    0,
  );
  return [
    `${counted(tools, 'tool')}, whose definitions are about ${percent(definitionsShare)} of the input`,
    `${percent(cachedShare)} of the input came from the cache${lost ? dollars(', lost ', lost) : ''}`,
    costUsd === undefined ? "the model's price isn't known" : `$${costUsd.toFixed(4)} at list price`,
  ];
}

function dollars(before: string, usd: number | undefined): string {
  return usd === undefined ? '' : `${before}$${usd.toFixed(4)}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
