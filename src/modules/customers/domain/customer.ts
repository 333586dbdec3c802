import type { Metadata } from '../../../core/metadata';

export const TAX_EXEMPTIONS = ['none', 'exempt', 'reverse'] as const;
export type TaxExemption = (typeof TAX_EXEMPTIONS)[number];

/** Thirty days: no period of a month waits longer than the next one lasts. */
export const MOST_INVOICE_GRACE_HOURS = 720;

/** A postal address; a part that is not known is null. */
export interface Address {
  readonly line1: string | null;
  readonly line2: string | null;
  readonly city: string | null;
  readonly state: string | null;
  readonly postalCode: string | null;
  /** ISO 3166-1 alpha-2 */
  readonly country: string | null;
}

/** Somebody who is billed. */
export interface Customer {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly email: string | null;
  /** The caller's own id of this customer; unique among those not deleted. */
  readonly externalId: string | null;
  /** ISO 4217; null until it is chosen, or until the first amount fixes it. */
  readonly currency: string | null;
  /** Set once money refers to the customer: from then on the currency stays. */
  readonly currencyLocked: boolean;
  /** IANA name of the zone that periods are counted in. */
  readonly timezone: string;
  readonly address: Address | null;
  readonly taxExempt: TaxExemption;
  /** The rates it is billed, in the order they are shown. */
  readonly taxRateIds: readonly string[];
  /** How long its renewal invoices stay drafts; null: as long as is configured. */
  readonly invoiceGraceHours: number | null;
  /** The test clock it lives on; null: it lives in real time. */
  readonly testClockId: string | null;
  readonly metadata: Metadata;
  /** Set when it was deleted; the row stays, because history refers to it. */
  readonly deletedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a new customer is made of. */
export type CustomerDetails = Pick<
  Customer,
  | 'name'
  | 'email'
  | 'externalId'
  | 'currency'
  | 'timezone'
  | 'address'
  | 'taxExempt'
  | 'taxRateIds'
  | 'invoiceGraceHours'
  | 'metadata'
>;

/** What a customer is created with: its details, and what never changes afterwards. */
export type NewCustomer = CustomerDetails & Pick<Customer, 'testClockId'>;

/** What an update may change; what is left out stays, null clears. */
export type CustomerChange = {
  readonly [Field in keyof CustomerDetails]?: CustomerDetails[Field] | undefined;
};

/** What a list is narrowed to; null: not narrowed. */
export interface CustomerFilter {
  readonly externalId: string | null;
  readonly email: string | null;
}

/**
 * What becomes of a customer's currency when an amount of `currency` is to refer to it: it is `fixed` already, it is
 * `free` to be fixed now, or it is another one (`mismatch`).
 */
export function currencyFit(
  customer: Pick<Customer, 'currency' | 'currencyLocked'>,
  currency: string,
): 'fixed' | 'free' | 'mismatch' {
  if (customer.currency !== null && customer.currency !== currency) return 'mismatch';
  return customer.currencyLocked ? 'fixed' : 'free';
}
