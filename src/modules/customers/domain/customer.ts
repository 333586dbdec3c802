import type { Metadata } from '../../../core/metadata';
import type { ChangeOf } from '../../../core/next-version';
import type { InstantRange } from '../../../core/time';

export const TAX_EXEMPTIONS = ['none', 'exempt', 'reverse'] as const;
export type TaxExemption = (typeof TAX_EXEMPTIONS)[number];

/** Maximum grace period of a draft invoice: thirty days, about as long as a monthly period. */
export const MAX_INVOICE_GRACE_HOURS = 720;

/** Postal address. Unknown parts are null. */
export interface Address {
  readonly line1: string | null;
  readonly line2: string | null;
  readonly city: string | null;
  readonly state: string | null;
  readonly postalCode: string | null;
  /** ISO 3166-1 alpha-2 */
  readonly country: string | null;
}

export interface Customer {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly email: string | null;
  /** Id in the caller's system; unique among customers that are not deleted. */
  readonly externalId: string | null;
  /** ISO 4217. Null until a request chooses it or the first amount fixes it. */
  readonly currency: string | null;
  /** True if an object with an amount, such as a subscription, refers to the customer. The currency is then fixed. */
  readonly currencyLocked: boolean;
  /** IANA time zone in which billing periods are computed. */
  readonly timezone: string;
  readonly address: Address | null;
  readonly taxExempt: TaxExemption;
  /** Ids of the tax rates, in display order. */
  readonly taxRateIds: readonly string[];
  /** Hours that renewal invoices stay drafts; null for the configured default. */
  readonly invoiceGraceHours: number | null;
  /** Test clock of the customer; null for real time. */
  readonly testClockId: string | null;
  readonly metadata: Metadata;
  /** Null: not deleted. The row of a deleted customer stays, because history refers to it. */
  readonly deletedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

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

export type NewCustomer = CustomerDetails & Pick<Customer, 'testClockId'>;

/** Fields an update may change. Omitted fields stay unchanged; null clears a field. */
export type CustomerChange = ChangeOf<Customer, keyof CustomerDetails>;

export const CUSTOMER_SORTS = ['name', 'created_at'] as const;
type CustomerSort = (typeof CUSTOMER_SORTS)[number];

/** Filter and sort order of a list of customers. A filter that is null is not applied. */
export interface CustomerFilter {
  readonly ids: readonly string[] | null;
  readonly externalId: string | null;
  readonly email: string | null;
  /** Words that must all occur in the name, e-mail address or external id. */
  readonly text: string | null;
  readonly currency: string | null;
  /** Only customers on this test clock. `none`: only customers without a test clock. */
  readonly testClockId: string | null;
  /** True: only customers who owe something on an open invoice. */
  readonly isOwing: boolean;
  readonly created: InstantRange;
  readonly sort: CustomerSort | `-${CustomerSort}` | null;
}

/**
 * Compares the currency of a customer with the currency of an amount. `fixed`: the customer permanently has this
 * currency. `free`: the customer can get this currency permanently now. `mismatch`: the customer has another currency.
 */
export function currencyFit(
  customer: Pick<Customer, 'currency' | 'currencyLocked'>,
  currency: string,
): 'fixed' | 'free' | 'mismatch' {
  if (customer.currency !== null && customer.currency !== currency) return 'mismatch';
  return customer.currencyLocked ? 'fixed' : 'free';
}
