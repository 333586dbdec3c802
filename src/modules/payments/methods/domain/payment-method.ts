import type { MethodDetails, ProviderName } from '../../domain/payment-provider';

/** A card, bank account or other means of payment of a customer, stored for later payments. */
export interface PaymentMethod extends MethodDetails {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  readonly provider: ProviderName;
  readonly token: string;
  /** True: a payment that names no method charges this one. A customer has at most one default. */
  readonly isDefault: boolean;
  /**
   * Time of a final decline, for example because the card has expired. From then on, the method is not charged
   * automatically. Null: the method is usable.
   */
  readonly unusableSince: Date | null;
  /** Failure code of the final decline; null: the method is usable. */
  readonly unusableReason: string | null;
  /** Deletion time. The row stays, because payments refer to it. */
  readonly deletedAt: Date | null;
  /**
   * Time of the next attempt to detach a deleted method at the provider. During an attempt: the end of the lease of the
   * process that makes it. Null: no attempt is due.
   */
  readonly dueAt: Date | null;
  /** Number of the process that is detaching the method; null: none. */
  readonly leasedBy: number | null;
  /** Number of failed attempts to detach the method. */
  readonly attempts: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewPaymentMethod {
  readonly provider: ProviderName;
  readonly token: string;
  /** Null: the method becomes the default only if the customer has no usable default. */
  readonly isDefault: boolean | null;
}

/**
 * A payment method that can be stored, because it is attached at the provider, or because the provider does not keep
 * methods.
 */
export interface AttachedPaymentMethod extends NewPaymentMethod, MethodDetails {}

/**
 * Method that a payment charges. For a stored method: its id and its token. For a sandbox token: this token in both
 * fields. Both fields are null if the payment has no method.
 */
export interface ChosenMethod {
  readonly provider: ProviderName;
  readonly paymentMethodId: string | null;
  readonly providerToken: string | null;
}
