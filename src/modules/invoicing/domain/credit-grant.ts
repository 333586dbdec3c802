/** Credit of a customer, and what is left of it. */
export interface StoredCreditGrant {
  readonly id: string;
  readonly customerId: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly remaining: bigint;
  /** The invoice or credit note it comes from. */
  readonly sourceId: string;
  readonly createdAt: Date;
}
