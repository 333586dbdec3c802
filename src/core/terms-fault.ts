/** A mistake in a price, or in an entitlement of a plan, such as two fields that contradict each other. */
export interface TermsFault {
  /** JSON pointer to the field, with the field names of the API. */
  readonly pointer: string;
  readonly message: string;
}
