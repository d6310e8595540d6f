/** One thing that was made otherwise in a schema, so that the Messages API takes it. */
export interface SchemaStep {
  /** Where it stands in the schema, as a JSON Pointer (RFC 6901). */
  readonly pointer: string;
  readonly keyword: string;
  /**
   * - `lowered`: said in other keywords, which take at least the same values.
   * - `described`: told to the model in words.
   * - `checked_here`: nothing of it is left for the model; calls are checked against it.
   */
  readonly how: 'lowered' | 'described' | 'checked_here';
  /** For people, as a sentence. */
  readonly text: string;
}
