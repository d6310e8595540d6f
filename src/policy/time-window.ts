import { type Truth, truthOf } from './truth.ts';

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const HOURS = /^([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]|24):([0-5][0-9])$/;
const MOMENT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2})$/;

/** When a rule holds. Everything that is given has to be so. */
export interface TimeWindow {
  /** Minutes of the day, from and up to; over midnight when `to` is before `from`. */
  readonly hours: readonly { readonly from: number; readonly to: number }[];
  readonly weekdays: readonly string[];
  /** Unix ms. */
  readonly before: number | undefined;
  readonly after: number | undefined;
  readonly clock: Intl.DateTimeFormat;
}

export const TIME_KEYS = ['zone', 'hours', 'weekdays', 'before', 'after'] as const;

/** Reads `time` of a rule; a text says what is wrong. */
export function readTimeWindow(written: ReadonlyMap<string, unknown>): TimeWindow | string {
  const zone = written.get('zone') ?? 'UTC';
  const hours: { from: number; to: number }[] = [];
  for (const text of listOf(written.get('hours'))) {
    const parts = typeof text === 'string' ? HOURS.exec(text) : null;
    const range = parts && {
      from: Number(parts[1]) * 60 + Number(parts[2]),
      to: Number(parts[3]) * 60 + Number(parts[4]),
    };
    if (!range || range.to > 1440 || range.from === range.to) return '"hours" must be as in "09:00-17:30"';
    hours.push(range);
  }
  const weekdays = listOf(written.get('weekdays'));
  if (weekdays.some((day) => !(WEEKDAYS as readonly unknown[]).includes(day)))
    return `"weekdays" must be among ${WEEKDAYS.join(', ')}`;
  const moments: (number | undefined)[] = [];
  for (const name of ['before', 'after']) {
    const text = written.get(name);
    const moment = typeof text === 'string' && MOMENT.test(text) ? Date.parse(text) : Number.NaN;
    if (text !== undefined && Number.isNaN(moment)) return `"${name}" must be as in "2027-01-31T18:00:00Z"`;
    moments.push(text === undefined ? undefined : moment);
  }
  if (typeof zone !== 'string') return '"zone" must be the name of a time zone, as in "Europe/Berlin"';
  let clock: Intl.DateTimeFormat;
  try {
    const parts = { weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
    clock = new Intl.DateTimeFormat('en-US', { timeZone: zone, ...parts });
  } catch {
    return `"zone" names no time zone that is known here`;
  }
  if (written.size === 0 || (written.size === 1 && written.has('zone'))) return '"time" says no time';
  return { hours, weekdays: weekdays.map(String), before: moments[0], after: moments[1], clock };
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) && value.length > 0 ? value : [value];
}

/** @param at Unix ms */
export function inWindow({ hours, weekdays, before, after, clock }: TimeWindow, at: number): Truth {
  if (!Number.isFinite(at) || Math.abs(at) > 8.64e15) return 'unknown';
  if (before !== undefined && at >= before) return 'no';
  if (after !== undefined && at < after) return 'no';
  const parts = new Map(clock.formatToParts(at).map(({ type, value }) => [type, value]));
  if (weekdays.length > 0 && !weekdays.includes((parts.get('weekday') ?? '').toLowerCase())) return 'no';
  const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'));
  const within = ({ from, to }: { from: number; to: number }) =>
    from < to ? from <= minute && minute < to : minute >= from || minute < to;
  return truthOf(hours.length === 0 || hours.some(within));
}
