/** JSON text of a result that is given again and again: its bytes are made once, when they are first sent as such. */
export class KeptText {
  readonly text: string;
  #bytes: Buffer | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** In UTF-8. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(this.text, 'utf8');
    return this.#bytes;
  }
}
