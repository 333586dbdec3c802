import type { MovementKind, MovementState, ProviderMovement } from '../payments';

export const DIFFERENCE_TYPES = [
  'missing_here',
  'missing_at_provider',
  'charged_twice',
  'status',
  'currency',
  'amount',
] as const;
export type DifferenceType = (typeof DIFFERENCE_TYPES)[number];

/** A payment or refund as booked here, in the form that is compared with {@link ProviderMovement}. */
export interface BookedMovement {
  readonly kind: MovementKind;
  readonly id: string;
  /** Id of the payment itself, or of the payment that the refund belongs to. */
  readonly paymentId: string;
  /** The provider's id of the charge or refund; null: unknown. */
  readonly reference: string | null;
  /** Amount in minor units of `currency`. */
  readonly amount: bigint;
  readonly currency: string;
  readonly state: MovementState;
}

/** A charge or refund that the books and the provider show differently. */
export interface Difference {
  readonly id: string;
  readonly reconciliationId: string;
  readonly type: DifferenceType;
  readonly object: MovementKind;
  /** Id of the payment; null: the service does not know the payment. */
  readonly paymentId: string | null;
  /** Id of the refund; null: the difference is about a charge, or the service does not know the refund. */
  readonly refundId: string | null;
  readonly providerReference: string | null;
  /** Booked amount in minor units; null: nothing is booked. */
  readonly bookedAmount: bigint | null;
  readonly bookedCurrency: string | null;
  readonly bookedStatus: MovementState | null;
  /** Amount at the provider in minor units; null: the provider does not know the charge or refund. */
  readonly providerAmount: bigint | null;
  readonly providerCurrency: string | null;
  readonly providerStatus: MovementState | null;
  readonly createdAt: Date;
}

/**
 * Returns how the books and the provider differ about one charge or refund. Returns null in these cases:
 * - There is no difference, or no money has moved on either side.
 * - The booked payment or refund is still open. A poll will get its outcome.
 * - The charge at the provider is not booked, and was refunded in full there.
 * - The charge at the provider has not succeeded, and its id differs from that of the booked charge.
 * @param isReturned true if no payment is booked with the provider's id of the charge, and the charge was refunded in
 *   full at the provider
 */
export function differenceBetween(
  booked: BookedMovement | null,
  reported: ProviderMovement | null,
  isReturned = false,
): DifferenceType | null {
  const isPaidThere = reported?.state === 'succeeded';
  if (booked === null) return isPaidThere && !isReturned ? 'missing_here' : null;
  if (reported === null) return booked.state === 'succeeded' ? 'missing_at_provider' : null;
  if (booked.state === 'open') return null;
  const isSame = booked.reference === null || booked.reference === reported.reference;
  if (booked.state === 'ended') return isPaidThere ? 'status' : null;
  if (!isPaidThere) return isSame ? 'status' : null;
  if (!isSame) return isReturned ? null : 'charged_twice';
  if (booked.currency !== reported.currency) return 'currency';
  return booked.amount === reported.amount ? null : 'amount';
}

export function sidesOf(
  booked: BookedMovement | null,
  reported: ProviderMovement | null,
): Omit<Difference, 'id' | 'reconciliationId' | 'type' | 'object' | 'createdAt'> {
  return {
    paymentId: booked?.paymentId ?? null,
    refundId: booked?.kind === 'refund' ? booked.id : null,
    providerReference: reported?.reference ?? booked?.reference ?? null,
    bookedAmount: booked?.amount ?? null,
    bookedCurrency: booked?.currency ?? null,
    bookedStatus: booked?.state ?? null,
    providerAmount: reported?.amount ?? null,
    providerCurrency: reported?.currency ?? null,
    providerStatus: reported?.state ?? null,
  };
}
