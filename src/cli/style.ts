/** Paints text for a terminal, or leaves it plain. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

function painter(on: boolean, open: number, close: number): (text: string) => string {
  return on ? (text) => `\u001b[${open}m${text}\u001b[${close}m` : (text) => text;
}

/**
 * Colours on a terminal only; `NO_COLOR` (no-color.org: any non-empty value) turns them off, `FORCE_COLOR` on in a
 * pipe, and `TERM=dumb` off.
 */
export function styleFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Style {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '' && env.FORCE_COLOR !== '0';
  const on = !env.NO_COLOR && (forced || (stream.isTTY === true && env.TERM !== 'dumb'));
  return {
    bold: painter(on, 1, 22),
    dim: painter(on, 2, 22),
    red: painter(on, 31, 39),
    green: painter(on, 32, 39),
    yellow: painter(on, 33, 39),
    cyan: painter(on, 36, 39),
  };
}
