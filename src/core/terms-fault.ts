/** A field of a request that contradicts other fields. */
export interface TermsFault {
  /** JSON pointer, with the field names of the API. */
  readonly pointer: string;
  readonly message: string;
}
