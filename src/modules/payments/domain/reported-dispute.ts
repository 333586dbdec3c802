export const DISPUTE_STATUSES = ['inquiry', 'open', 'won', 'lost', 'closed'] as const;
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number];

/** A dispute as the provider reports it. Amounts are minor units of the payment's currency. */
export interface ReportedDispute {
  readonly providerReference: string;
  readonly status: DisputeStatus;
  readonly reason: string | null;
  /** Amount in dispute, at least 1. */
  readonly amount: bigint;
  /** Funds that the provider took from the seller for the dispute. */
  readonly amountWithdrawn: bigint;
  /** Part of the withdrawn funds that the provider paid back. */
  readonly amountReinstated: bigint;
  /** True if the provider allows refunds of the payment although it is disputed. */
  readonly isRefundable: boolean;
  /** Last instant at which evidence can be sent to the provider; null: unknown. */
  readonly evidenceDueAt: Date | null;
}
