/** Error in a field of a price or of an entitlement of a plan, such as a contradiction with another field. */
export interface TermsFault {
  /** JSON pointer, with the field names of the API. */
  readonly pointer: string;
  readonly message: string;
}
