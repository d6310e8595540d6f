const DECIMAL = /^([+-]?)([0-9]{1,200})(?:\.([0-9]{1,200}))?$/;

/** True for a decimal number as text: digits, with a sign and a fraction if need be; no exponent, no spaces. */
export function isDecimal(text: string): boolean {
  return DECIMAL.test(text);
}

/** Compares two decimal numbers exactly, whatever their length. Negative, zero or positive; NaN when one is none. */
export function compareDecimals(first: string, second: string): number {
  const [a, b] = [DECIMAL.exec(first), DECIMAL.exec(second)];
  if (!a || !b) return Number.NaN;
  const places = Math.max(a[3]?.length ?? 0, b[3]?.length ?? 0);
  const difference = scaled(a, places) - scaled(b, places);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

function scaled(parts: RegExpExecArray, places: number): bigint {
  const value = BigInt(`${parts[2]}${(parts[3] ?? '').padEnd(places, '0')}`);
  return parts[1] === '-' ? -value : value;
}
