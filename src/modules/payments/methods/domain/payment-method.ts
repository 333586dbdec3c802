import type { MethodDetails, ProviderName } from '../../domain/payment-provider';

/** A way in which a customer can be charged, kept for later payments. */
export interface PaymentMethod extends MethodDetails {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  readonly provider: ProviderName;
  /** The provider's id of the method. */
  readonly token: string;
  /** Charged unless a caller names another method. At most one per customer. */
  readonly isDefault: boolean;
  /** Time of a final decline, after which the method is not charged automatically. Null: usable. */
  readonly unusableSince: Date | null;
  /** Failure code of that decline. */
  readonly unusableReason: string | null;
  /** Deletion time. The row stays, because payments refer to it. */
  readonly deletedAt: Date | null;
  /**
   * Time of the next request to detach a deleted method, or end of the lease of the process that is sending it. Null: nothing
   * is due.
   */
  readonly dueAt: Date | null;
  /** Number of the process that is asking the provider; null: none. */
  readonly leasedBy: number | null;
  /** Number of failed attempts to detach it. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewPaymentMethod {
  readonly provider: ProviderName;
  readonly token: string;
  /** Null: becomes the default if the customer has no usable default. */
  readonly isDefault: boolean | null;
}

/** A payment method with the provider's id and details, after it was attached at a provider that keeps methods. */
export interface AttachedPaymentMethod extends NewPaymentMethod, MethodDetails {}

/** Returns the method, marked as unusable by a final decline. */
export function withFinalDecline(
  method: PaymentMethod,
  failureCode: string,
  now: Date,
): PaymentMethod {
  const version = method.version + 1;
  return { ...method, unusableSince: now, unusableReason: failureCode, version, updatedAt: now };
}

/**
 * Method that a payment charges: a stored one, or a token of the sandbox, which is in both fields. Both are null for a provider
 * without methods.
 */
export interface ChosenMethod {
  readonly provider: ProviderName;
  readonly paymentMethodId: string | null;
  readonly providerToken: string | null;
}
