import type { AuditRow } from '../policy/index.ts';
import { printable } from '../tools/index.ts';

type Question = NonNullable<AuditRow['questions']>[number];

/** One call on one line. */
export function auditRow({ at, call, end, writer, seq }: AuditRow): string {
  const how = end === undefined ? 'unknown' : end.isError ? 'error' : end.outcome;
  const cells = [time(at), how.padEnd(12), call.who.agent, call.name, decided(call), `${writer}:${seq}`];
  return printable(cells.join('  '));
}

/** Everything that is known of a call. */
export function auditShown(row: AuditRow): string {
  const { call, end } = row;
  const lines: (readonly [string, string | undefined])[] = [
    ['call', `${call.id} (${row.writer}:${row.seq})`],
    ['when', time(row.at)],
    ['who', [call.who.agent, call.who.user && `for ${call.who.user}`, `via ${call.who.via}`].filter(Boolean).join(' ')],
    ['tool', call.name],
    ['server', call.ref && (call.ref.server ? `${call.ref.server.key} (${call.ref.server.scope})` : 'this program')],
    ['definition', call.ref?.fingerprint],
    ['effect', call.effect],
    ['arguments', call.args === undefined ? undefined : JSON.stringify(call.args)],
    ['digest', call.argsDigest],
    ['proposed', call.proposed && JSON.stringify(call.proposed.args ?? call.proposed.argsDigest)],
    ['facts', call.facts === undefined ? call.factsDigest : JSON.stringify(call.facts)],
    ['origins', call.origins && originsText(call.origins)],
    ['labels', call.labels?.join(', ')],
    ['decision', call.decision && `${call.decision.effect} (policy ${call.decision.policyVersion})`],
    ...(call.decision?.reasons ?? []).map(
      ({ code, text, source }) =>
        [
          '  because',
          `${text} [${code}]${source ? ` (${source.file}${source.line ? `:${source.line}` : ''})` : ''}`,
        ] as const,
    ),
    ['asked', call.asked && askedText(call.asked)],
    ...(row.questions ?? []).map((question) => ['question', questionText(question)] as const),
    [
      'questions',
      row.moreQuestions === undefined ? undefined : `and ${row.moreQuestions} more, which 'audit export' has`,
    ],
    ['outcome', outcomeText(end)],
    ['answered', end?.answeredBy && `by call ${end.answeredBy.callId} of ${time(end.answeredBy.at)}, not run again`],
    ['took', end && `${end.ms} ms, ${end.attempts} ${end.attempts === 1 ? 'attempt' : 'attempts'}`],
  ];
  return lines
    .flatMap(([name, value]) =>
      value === undefined ? [] : [`${name.padEnd(11)} ${printable(value, { maxLength: 2_000 })}`],
    )
    .join('\n');
}

function decided({ decision, asked }: AuditRow['call']): string {
  const by = asked && 'by' in asked ? `, ${asked.answer} by ${asked.by}` : '';
  return `${decision?.effect ?? 'no decision'}${by}`;
}

function askedText(asked: NonNullable<AuditRow['call']['asked']>): string {
  switch (asked.answer) {
    case 'allow':
      return `allowed by ${asked.by}${byApproval(asked)}${asked.argsDigest === undefined ? '' : ', with other arguments'}`;
    case 'deny':
      return `denied by ${asked.by}${byApproval(asked)}${asked.reason === undefined ? '' : `: ${asked.reason}`}`;
    case 'parked':
      return `waits as approval ${asked.approval}`;
  }
}

/** `bridle approvals show` tells the rest of it. */
function byApproval({ approval }: { readonly approval?: string }): string {
  return approval === undefined ? '' : ` (approval ${approval})`;
}

/** What a server wanted to know in the middle of the call. */
function questionText({ method, request, action, answer, error }: Question): string {
  const told = error ?? [action, answer && JSON.stringify(answer)].filter(Boolean).join(' ');
  const asked = request === undefined ? '' : ` ${JSON.stringify(request)}`;
  return `${method}${asked}: ${told || 'answered'}`;
}

function outcomeText(end: AuditRow['end']): string {
  if (!end) return 'unknown: it runs, or whoever wrote this was killed';
  const more = [
    end.isError && "the tool's own error",
    end.executed && `effect: ${end.executed}`,
    end.category,
    end.reasons?.join(', '),
  ];
  const said = more.filter(Boolean).join(', ');
  return said === '' ? end.outcome : `${end.outcome} (${said})`;
}

function originsText(origins: NonNullable<AuditRow['call']['origins']>): string {
  return Object.entries(origins)
    .map(([pointer, origin]) => `${pointer || '/'} from ${origin.from}`)
    .join(', ');
}

function time(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ');
}
