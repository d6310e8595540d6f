const ESC = 0x1b;
const BEL = 0x07;
const ST = 0x9c;

/** Where an escape sequence that starts at `start` ends (exclusive); a sequence that never ends takes the rest of its line. */
function endOfEscape(text: string, start: number, c1: boolean): number {
  let i = start + 1;
  const introducer = c1 ? text.charCodeAt(start) - 0x40 : text.charCodeAt(i++);
  if (Number.isNaN(introducer)) return text.length;
  if (introducer === 0x5b) {
    // CSI: parameters and intermediates (0x20-0x3f), then one final character.
    while (i < text.length && text.charCodeAt(i) >= 0x20 && text.charCodeAt(i) <= 0x3f) i++;
    return text.charCodeAt(i) >= 0x40 && text.charCodeAt(i) <= 0x7e ? i + 1 : i;
  }
  if (introducer === 0x5d || introducer === 0x50 || introducer === 0x58 || introducer === 0x5e || introducer === 0x5f) {
    // OSC, DCS, SOS, PM, APC: text up to BEL or ST.
    for (; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code === 0x0a) return i;
      if (code === BEL || code === ST) return i + 1;
      if (code === ESC) return text.charCodeAt(i + 1) === 0x5c ? i + 2 : i;
    }
    return i;
  }
  if (c1) return start + 1;
  // Two characters, with intermediates before the final one (as in `ESC ( B`).
  if (introducer >= 0x20 && introducer <= 0x2f) {
    while (i < text.length && text.charCodeAt(i) >= 0x20 && text.charCodeAt(i) <= 0x2f) i++;
    return text.charCodeAt(i) >= 0x30 && text.charCodeAt(i) <= 0x7e ? i + 1 : i;
  }
  return introducer >= 0x30 && introducer <= 0x7e ? i : start + 1;
}

/**
 * True for what may deceive or hide: bidi controls, zero-width and invisible characters (Unicode's
 * Default_Ignorable_Code_Point), tags, and selectors of variants, in which a text can be hidden letter by letter.
 */
function hidden(code: number): boolean {
  return (
    code === 0xad ||
    code === 0x34f ||
    code === 0x61c ||
    code === 0x115f ||
    code === 0x1160 ||
    code === 0x17b4 ||
    code === 0x17b5 ||
    (code >= 0x180b && code <= 0x180f) ||
    (code >= 0x200b && code <= 0x200f) ||
    code === 0x2028 ||
    code === 0x2029 ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x2060 && code <= 0x206f) ||
    code === 0x3164 ||
    (code >= 0xfe00 && code <= 0xfe0f) ||
    code === 0xfeff ||
    code === 0xffa0 ||
    (code >= 0xfff0 && code <= 0xfffb) ||
    (code >= 0x1bca0 && code <= 0x1bca3) ||
    (code >= 0x1d173 && code <= 0x1d17a) ||
    (code >= 0xe0000 && code <= 0xe0fff)
  );
}

/**
 * Makes foreign text safe to show to a person: terminal escape sequences go whole, and so do control, bidi, zero-width
 * and tag characters and lone surrogates. Everything else stays as it is.
 *
 * @param text from a server, a model or a file
 * @param options `maxLength`: UTF-16 units, the cut is marked with `…`; `newlines`: keep `\n` and `\t` (else each run
 *   of them becomes one space)
 */
export function printable(
  text: string,
  options: { readonly maxLength?: number; readonly newlines?: boolean } = {},
): string {
  const limit = options.maxLength ?? Number.POSITIVE_INFINITY;
  let out = '';
  for (let i = 0; i < text.length && out.length <= limit; ) {
    const code = text.codePointAt(i) ?? 0;
    const size = code > 0xffff ? 2 : 1;
    if (code === ESC || (code >= 0x80 && code <= 0x9f)) {
      i = endOfEscape(text, i, code !== ESC);
    } else {
      i += size;
      if (code === 0x0a || code === 0x09 || code === 0x0d)
        out += whiteSpace(code, text, i, out, options.newlines === true);
      else if (code >= 0x20 && code !== 0x7f && !hidden(code) && !(code >= 0xd800 && code <= 0xdfff))
        out += String.fromCodePoint(code);
    }
  }
  return out.length > limit ? `${cutAt(out, Math.max(0, limit - 1))}…` : out;
}

function whiteSpace(code: number, text: string, next: number, out: string, keep: boolean): string {
  if (!keep) return out === '' || out.endsWith(' ') ? '' : ' ';
  // A bare CR would let later text overwrite the line; CR LF is one line end.
  if (code === 0x0d) return text.charCodeAt(next) === 0x0a ? '' : '\n';
  return String.fromCharCode(code);
}

/** The first `length` UTF-16 units, one less where the cut would split a surrogate pair. */
export function cutAt(text: string, length: number): string {
  if (length >= text.length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
