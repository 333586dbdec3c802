/**
 * Notification that an object at a provider changed. It does not contain the new state, which must be read from the
 * provider.
 */
export interface ProviderEvent {
  /** The provider's id of the event. */
  readonly id: string;
  readonly type: string;
  readonly createdAt: Date;
  /**
   * Id of the changed object: our id for a payment, refund or setup of this service; the provider's id for a dispute,
   * or for a refund made at the provider. Null for any other object.
   */
  readonly subjectId: string | null;
  /** The provider's id of the object; null if the object has no id, or if the id cannot be stored. */
  readonly objectId: string | null;
}

/** A page of listed events, newest first. */
export interface ProviderEventPage {
  readonly events: readonly ProviderEvent[];
  /**
   * Time of the answer by the provider's clock. If the answer does not state it: the time of the newest event of the
   * page, or null if the page has no event.
   */
  readonly answeredAt: Date | null;
  /** Id of the event after which the next page begins; null: this is the last page. */
  readonly next: string | null;
}

export interface ProviderEvents {
  /**
   * Returns the event of a signed notification. Returns null if the signature is wrong, if the time of the signature is
   * too far from `at`, or if the event is from the other mode (test or live).
   */
  parse(raw: Buffer, signature: string, at: Date): ProviderEvent | null;
  /**
   * Returns a page of the events since an instant. Returns `gone` if the provider has deleted the event `after`, and
   * null if the provider did not answer.
   * @param after id of the last event of the previous page; null for the first page
   */
  listSince(since: Date, after: string | null): Promise<ProviderEventPage | 'gone' | null>;
}
