import type { MethodDetails, ProviderName } from '../../domain/payment-provider';

/** A way in which a customer can be charged, kept for later payments. */
export interface PaymentMethod extends MethodDetails {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  readonly provider: ProviderName;
  /** As the provider names it. */
  readonly token: string;
  /** Charged unless a caller names another method. At most one per customer. */
  readonly isDefault: boolean;
  /** Time of a decline that is final for this method: nothing is collected from it any more. Null: usable. */
  readonly unusableSince: Date | null;
  /** Failure code of that decline. */
  readonly unusableReason: string | null;
  /** Deletion time. The row stays, because payments refer to it. */
  readonly deletedAt: Date | null;
  /** When the provider is asked to detach it, and the end of the lease of the process that asks now; null: nothing is due. */
  readonly dueAt: Date | null;
  /** Number of the process that asks the provider now; null if none does. */
  readonly leasedBy: number | null;
  /** Number of times that the provider did not detach it. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewPaymentMethod {
  readonly provider: ProviderName;
  readonly token: string;
  /** Null: where the customer has none yet. */
  readonly isDefault: boolean | null;
}

/** A payment method that is attached to the customer at its provider, if the provider has such a step. */
export interface AttachedPaymentMethod extends NewPaymentMethod, MethodDetails {}

/** A method after a decline that is final for it. */
export function withFinalDecline(
  method: PaymentMethod,
  failureCode: string,
  now: Date,
): PaymentMethod {
  const version = method.version + 1;
  return { ...method, unusableSince: now, unusableReason: failureCode, version, updatedAt: now };
}

/** Payment method to charge. */
export interface ChosenMethod {
  readonly provider: ProviderName;
  readonly paymentMethodId: string | null;
  readonly providerToken: string | null;
}
