/** Breaks text that comes in pieces between words, so that none is cut at the edge of the terminal. */
export interface Wrap {
  push(text: string): void;
  /** Writes what is held back; the text is over. */
  end(): void;
  /** True when the next character would be the first of its line. */
  readonly atStart: boolean;
}

/** Characters that take two columns: East Asian wide ones and most pictographs. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
/** Characters that take none. */
const NONE = /\p{M}|\u200d|\ufe0f/u;

/** Columns that a text takes, near enough. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}

/**
 * @param write takes what may be shown
 * @param width the terminal's, asked at each word, as it may change
 */
export function wrap(write: (text: string) => void, width: () => number): Wrap {
  let column = 0;
  let word = '';
  let gap = '';
  let line = '';
  let fenced = false;
  /** The word before went on into this piece. */
  let goesOn = false;

  const put = (text: string) => {
    write(text);
    column += columnsOf(text);
    // What fits no line goes on in the next, by the terminal's own doing.
    if (column > width()) column = ((column - 1) % width()) + 1;
  };
  const flush = () => {
    if (word === '') return;
    const most = width();
    const needed = columnsOf(gap) + columnsOf(word);
    // Lines of code stay as they are, and a word that fits no line is left to the terminal.
    if (!fenced && !goesOn && column > 0 && column + needed > most && columnsOf(word) <= most) {
      write('\n');
      column = 0;
    } else if (gap !== '') put(gap);
    gap = '';
    put(word);
    word = '';
    goesOn = true;
  };
  const newline = () => {
    flush();
    gap = '';
    goesOn = false;
    if (/^\s*(```|~~~)/.test(line)) fenced = !fenced;
    line = '';
    write('\n');
    column = 0;
  };

  return {
    push(text) {
      for (const character of text) {
        if (character === '\n') {
          newline();
          continue;
        }
        line += character;
        if (character === ' ' || character === '\t') {
          flush();
          goesOn = false;
          gap += character;
          // Indentation is shown as it stands.
          if (column === 0 && line.trim() === '') {
            put(gap);
            gap = '';
          }
        } else {
          word += character;
          // Texts without blanks are shown as they come.
          if (columnsOf(word) > width() || WIDE.test(character)) flush();
        }
      }
    },
    end() {
      flush();
      gap = '';
    },
    get atStart() {
      return column === 0 && word === '';
    },
  };
}

/** Colours, as our own style writes them. */
const COLOUR = new RegExp(`${String.fromCharCode(0x1b)}\\[\\d+m`, 'g');

/**
 * Whole lines, each broken between words where it is longer than the terminal is wide. What goes on is set in as far as
 * its line, and two columns more.
 */
export function wrapLines(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, width))
    .join('\n');
}

function wrapLine(line: string, width: number): string {
  const length = (part: string) => columnsOf(part.replace(COLOUR, ''));
  if (length(line) <= width) return line;
  const bare = line.replace(COLOUR, '');
  const margin = ' '.repeat(Math.min(bare.length - bare.trimStart().length + 2, Math.floor(width / 2)));
  let out = '';
  let column = 0;
  for (const part of line.match(/ +|[^ ]+/g) ?? []) {
    const columns = length(part);
    if (part.startsWith(' ')) {
      if (column + columns <= width) {
        out += part;
        column += columns;
      }
      continue;
    }
    if (column + columns > width && column > margin.length && columns <= width - margin.length) {
      out = `${out.trimEnd()}\n${margin}`;
      column = margin.length;
    }
    out += part;
    column += columns;
  }
  return out;
}
