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
  /** Deletion time. The row stays, because payments refer to it. */
  readonly deletedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewPaymentMethod {
  readonly provider: ProviderName;
  readonly token: string;
  /** Null: where the customer has none yet. */
  readonly isDefault: boolean | null;
}

/** A payment method that its provider keeps, or needs not keep. */
export interface AttachedPaymentMethod extends NewPaymentMethod, MethodDetails {}

/** Payment method to charge. */
export interface ChosenMethod {
  readonly provider: ProviderName;
  readonly paymentMethodId: string | null;
  readonly providerToken: string | null;
}
