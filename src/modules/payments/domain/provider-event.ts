/** Notification that an object at a provider changed. A hint only: the object is read again. */
export interface ProviderEvent {
  /** The provider's id. */
  readonly id: string;
  readonly type: string;
  readonly createdAt: Date;
  /** Our id of the payment or refund, or the provider's of the dispute; null for any other object. */
  readonly subjectId: string | null;
}

/** Notifications of one provider. */
export interface ProviderEvents {
  /** Returns the event of a signed notification, or null if the signature, its time or its mode is wrong. */
  parse(raw: Buffer, signature: string, at: Date): ProviderEvent | null;
  /** Returns the events since an instant, or null if the provider did not answer. */
  listSince(since: Date): Promise<readonly ProviderEvent[] | null>;
}
