import type { ProviderOutcome } from '../../domain/payment-provider';

export const DISCREPANCY_STATUSES = ['open', 'applied', 'dismissed'] as const;
export type DiscrepancyStatus = (typeof DISCREPANCY_STATUSES)[number];

export const REPORTED_STATUSES = ['succeeded', 'failed'] as const;
export type ReportedStatus = (typeof REPORTED_STATUSES)[number];

export const FINAL_STATUSES = ['succeeded', 'failed', 'canceled'] as const;
export type FinalStatus = (typeof FINAL_STATUSES)[number];

/** A provider's report that contradicts the final state of a payment or refund. */
export interface Discrepancy {
  readonly id: string;
  readonly version: number;
  readonly paymentId: string;
  /** Id of the refund that the report is about; null: the report is about the payment itself. */
  readonly refundId: string | null;
  readonly recordedStatus: FinalStatus;
  readonly reportedStatus: ReportedStatus;
  /** The provider's id of the charge or refund that was reported as succeeded; null for a reported failure. */
  readonly providerReference: string | null;
  /** Failure code of a reported failure; null for a reported success. */
  readonly failureCode: string | null;
  readonly status: DiscrepancyStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type ReportedDiscrepancy = Pick<
  Discrepancy,
  | 'paymentId'
  | 'refundId'
  | 'recordedStatus'
  | 'reportedStatus'
  | 'providerReference'
  | 'failureCode'
>;

/** The recorded payment or refund that a report is about. */
interface Reported {
  readonly paymentId: string;
  readonly refundId: string | null;
  readonly status: string;
  /** The provider's id of the charge or refund, as recorded; null if none is recorded. */
  readonly providerReference: string | null;
}

/**
 * Compares a reported outcome with the recorded final status. Returns the discrepancy; null if there is none. A
 * discrepancy is:
 * - a success after a failure or cancellation: money moved that is not recorded
 * - a failure after a success: recorded money did not move
 * - a success with another provider reference than the recorded one: money moved twice
 */
export function discrepancyOf(
  { paymentId, refundId, status, providerReference }: Reported,
  outcome: ProviderOutcome,
): ReportedDiscrepancy | null {
  const recordedStatus = FINAL_STATUSES.find((final) => final === status);
  if (recordedStatus === undefined) return null;
  const object = { paymentId, refundId, recordedStatus };
  if (outcome.kind === 'failed' && recordedStatus === 'succeeded') {
    const { failureCode } = outcome;
    return { ...object, reportedStatus: 'failed', providerReference: null, failureCode };
  }
  if (outcome.kind !== 'succeeded') return null;
  const isKnown =
    recordedStatus === 'succeeded' &&
    (providerReference === null || providerReference === outcome.reference);
  if (isKnown) return null;
  const { reference } = outcome;
  return {
    ...object,
    reportedStatus: 'succeeded',
    providerReference: reference,
    failureCode: null,
  };
}

/** Returns true if a discrepancy can be applied, because it reports a success after a failure or cancellation. */
export function isApplicable({ recordedStatus, reportedStatus }: Discrepancy): boolean {
  return recordedStatus !== 'succeeded' && reportedStatus === 'succeeded';
}
