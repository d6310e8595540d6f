/**
 * What is wrong with a text of one of the formats that a form may ask for; null when it fits, and for a format that the
 * protocol doesn't have.
 */
export function formatProblem(format: string, text: string): string | null {
  switch (format) {
    case 'email':
      return /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)*$/.test(text) ? null : 'It has to be an e-mail address.';
    case 'uri':
      return isUri(text) ? null : 'It has to be a URI, e.g. https://example.com/.';
    case 'date':
      return isDate(text) ? null : 'It has to be a date, e.g. 2026-11-30.';
    case 'date-time':
      return isDateTime(text) ? null : 'It has to be a date and time with its zone, e.g. 2026-11-30T15:04:05Z.';
    default:
      return null;
  }
}

function isUri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text);
}

/** RFC 3339 `full-date`: 2026-02-30 is none. */
function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  date.setUTCFullYear(Number(year));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

/** RFC 3339 `date-time`. */
function isDateTime(text: string): boolean {
  const time = /^(.{10})T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i.exec(text);
  return time?.[1] !== undefined && isDate(time[1]);
}
