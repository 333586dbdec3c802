/** Notification that an object at a provider changed. A hint only: the object is read again. */
export interface ProviderEvent {
  /** The provider's id of the event. */
  readonly id: string;
  readonly type: string;
  readonly createdAt: Date;
  /**
   * Our id of the payment, refund or setup. The provider's id of a dispute, or of a refund made at the provider. Null for any
   * other object.
   */
  readonly subjectId: string | null;
  /** The provider's id of the object; null if it has none, or the id is too long to be stored. */
  readonly objectId: string | null;
}

/** A page of listed events, newest first. */
export interface ProviderEventPage {
  readonly events: readonly ProviderEvent[];
  /** Id after which the next page begins; null at the end. */
  readonly next: string | null;
}

/** Notifications of one provider. */
export interface ProviderEvents {
  /** Returns the event of a signed notification, or null if the signature, its time or its mode is wrong. */
  parse(raw: Buffer, signature: string, at: Date): ProviderEvent | null;
  /**
   * Returns a page of the events since an instant. `gone`: the provider has deleted the event `after`. Null: the provider did
   * not answer.
   * @param after id of the last event of the previous page; null for the first page
   */
  listSince(since: Date, after: string | null): Promise<ProviderEventPage | 'gone' | null>;
}
