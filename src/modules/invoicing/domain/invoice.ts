import { invariant } from '../../../core/invariant';
import type { AppliedCredit, DiscountShare, LineKind } from '../../../core/invoice';
import type { Metadata } from '../../../core/metadata';
import type { Proration } from '../../../core/proration';
import type { Transitions } from '../../../core/states';
import type { TaxShare, TaxTreatment } from '../../../core/tax';
import type { Period } from '../../../core/time';
import type { LineItemRequest } from './line-item-request';
import type { InvoiceSnapshots } from './invoice-snapshots';
import type { LineTrace } from './trace';

export const INVOICE_STATUSES = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const;
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

export const INVOICE_TRANSITIONS: Transitions<InvoiceStatus> = {
  draft: ['open'],
  open: ['paid', 'void', 'uncollectible'],
  uncollectible: ['paid', 'void'],
  paid: [],
  void: [],
};

export const INVOICE_REASONS = [
  'subscription_start',
  'renewal',
  'change',
  'end',
  'late_usage',
  'one_off',
] as const;
export type InvoiceReason = (typeof INVOICE_REASONS)[number];

export const COLLECTIONS = ['automatic', 'send_invoice'] as const;
export type Collection = (typeof COLLECTIONS)[number];

export interface InvoiceTaxRate {
  readonly taxRateId: string;
  readonly name: string;
  readonly percentage: string;
  readonly inclusive: boolean;
  readonly taxableMinor: bigint;
  readonly taxMinor: bigint;
}

/** A coupon of the invoice, with all that is needed to apply it again. */
export interface InvoiceCoupon {
  readonly redemptionId: string;
  readonly redeemedAt: Date;
  readonly duration: 'once' | 'repeating' | 'forever';
  readonly percentOff: string | null;
  /** Amount that the coupon could take off, including `returnedMinor`; null for a percentage. */
  readonly amountOffMinor: bigint | null;
  readonly amountMinor: bigint;
  /**
   * Discounts that this invoice returned to the coupon. In an entry with `correctedFrom`, usage corrections returned
   * them; in other entries, credits did. Discounts that credits returned count only if they belong to the same billing
   * period, except for duration `once`. Absent from older invoices.
   */
  readonly returnedMinor?: bigint;
  /** Largest discount that a percentage could give; null or absent: no limit. */
  readonly mostMinor?: bigint | null;
  /** Prices that the coupon discounts; null or absent: all prices. */
  readonly priceIds?: readonly string[] | null;
  readonly endsAt?: Date | null;
  /** Start of the billing period; absent from older invoices. */
  readonly appliedFrom?: Date | null;
  /**
   * Present only in an entry for usage corrections: the start of the period of the corrected invoice. The other charges
   * of this invoice have entries of their own.
   */
  readonly correctedFrom?: Date | null;
  /** In an entry with `correctedFrom`: remaining amount of the coupon before the usage corrections. */
  readonly restMinor?: bigint;
  /** Part of `amountMinor` that was taken from `restMinor`. */
  readonly ofRestMinor?: bigint;
  /** Present if a usage correction was the first use of a percentage coupon with duration `once`. */
  readonly begins?: true;
}

/** Amounts are in minor units of the invoice's currency. */
export interface InvoiceLine {
  readonly id: string;
  readonly invoiceId: string;
  readonly position: number;
  readonly kind: LineKind;
  readonly description: string;
  readonly quantity: string | null;
  readonly unitAmount: string | null;
  /** Before discounts. Includes inclusive tax, but not exclusive tax. Negative for a credit, for example. */
  readonly amount: bigint;
  readonly discount: bigint;
  /** After discount, without any tax. */
  readonly net: bigint;
  /** Sum of inclusive and exclusive tax. */
  readonly tax: bigint;
  readonly priceId: string | null;
  readonly itemId: string | null;
  readonly period: Period | null;
  readonly fullPeriod: Period | null;
  readonly proration: Proration | null;
  readonly prorationUnit: 'day' | 'second' | null;
  readonly timeZone: string | null;
  /** True if the line is billed before its period, so that the unused part can be credited. */
  readonly isInAdvance: boolean;
  /** True if the deferred revenue of the line was released. */
  readonly isReleased: boolean;
  /** Id of the line whose unused part this credit line takes back; null for other lines. */
  readonly creditsLineId: string | null;
  /**
   * Amount that credit lines and credit notes have taken back so far. It can exceed `amount`: a credit for unused time
   * that also takes back the true-up of a charge counts in full on the line of the charge.
   */
  readonly credited: bigint;
  /** Part of `net` that credit notes have taken back so far. */
  readonly creditedNet: bigint;
  readonly creditedTaxShares: readonly TaxShare[];
  readonly taxRateIds: readonly string[];
  readonly taxShares: readonly TaxShare[];
  readonly discountShares: readonly DiscountShare[];
  readonly trace: LineTrace;
}

export interface Invoice {
  readonly id: string;
  readonly version: number;
  /** From a gapless series; null for a draft. */
  readonly number: string | null;
  readonly status: InvoiceStatus;
  readonly reason: InvoiceReason;
  readonly customerId: string;
  readonly testClockId: string | null;
  readonly subscriptionId: string | null;
  /** Id of the void invoice that this one regenerates; null: none. */
  readonly reissueOfId: string | null;
  /**
   * If the invoice was made because a billing period started or ended: the time of that start or end. Otherwise null. A
   * subscription has at most one such invoice for each time.
   */
  readonly renewsAt: Date | null;
  readonly currency: string;
  readonly periodStartAt: Date | null;
  readonly periodEndAt: Date | null;
  readonly subtotal: bigint;
  readonly discount: bigint;
  /** Exclusive tax: added to the amounts of the lines. */
  readonly tax: bigint;
  /** Inclusive tax: contained in the amounts of the lines. */
  readonly inclusiveTax: bigint;
  readonly total: bigint;
  readonly creditApplied: bigint;
  /** Amount that a negative total added to the credit balance. */
  readonly creditedToBalance: bigint;
  readonly amountDue: bigint;
  readonly amountPaid: bigint;
  /** Amount taken off the amount due by credit notes, and by credit from negative invoices of the subscription. */
  readonly amountCredited: bigint;
  readonly amountPending: bigint;
  readonly taxTreatment: TaxTreatment;
  readonly taxRates: readonly InvoiceTaxRate[];
  readonly coupons: readonly InvoiceCoupon[];
  readonly credits: readonly AppliedCredit[];
  readonly collection: Collection;
  readonly attemptCount: number;
  /**
   * Time of the next automatic charge or, if the invoice is no longer open, the time at which its collection ends. Null
   * if neither is planned.
   */
  readonly collectAt: Date | null;
  /**
   * True if the charge at `collectAt` is made even while the subscription is `unpaid`, because the customer has a new
   * default payment method.
   */
  readonly isCollectedWhileUnpaid: boolean;
  readonly daysUntilDue: number;
  readonly dueAt: Date | null;
  /** When the invoice was reported as overdue; null: it was not. */
  readonly overdueAt: Date | null;
  /** End of the grace period, when a draft is finalized automatically; null for other invoices. */
  readonly finalizesAt: Date | null;
  /** For a draft in its grace period: the requests from which its lines are calculated again when it is finalized. */
  readonly requestedLines: readonly LineItemRequest[] | null;
  readonly finalizedAt: Date | null;
  readonly paidAt: Date | null;
  readonly voidedAt: Date | null;
  /** Principal that voided the invoice; null if the invoice is not void, or if the principal was not recorded. */
  readonly voidedBy: string | null;
  readonly uncollectibleAt: Date | null;
  /** Seller and buyer; null for a draft, and for an invoice that was finalized before the engine stored snapshots. */
  readonly snapshots: InvoiceSnapshots | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lines: readonly InvoiceLine[];
}

export function amountRemaining(
  invoice: Pick<Invoice, 'amountDue' | 'amountPaid' | 'amountCredited'>,
): bigint {
  return invoice.amountDue - invoice.amountPaid - invoice.amountCredited;
}

export function isCredited({ lines }: Pick<Invoice, 'lines'>): boolean {
  return lines.some(({ credited, creditedNet }) => credited > 0n || creditedNet > 0n);
}

/** Returns the rule that the totals of an invoice break, as text; null if the totals are consistent. */
export function brokenTotalOf(invoice: Invoice): string | null {
  const total = (of: (line: InvoiceLine) => bigint): bigint =>
    invoice.lines.reduce((sum, line) => sum + of(line), 0n);
  const rules = {
    'the subtotal equals the sum of the lines': total(({ amount }) => amount) === invoice.subtotal,
    'the discount equals the sum of the lines':
      total(({ discount }) => discount) === invoice.discount,
    'the total equals the sum of the lines': total(({ net, tax }) => net + tax) === invoice.total,
    'the total is subtotal less discount plus tax':
      invoice.total === invoice.subtotal - invoice.discount + invoice.tax,
    'the total is due, applied from credit, or credited':
      invoice.total === invoice.amountDue + invoice.creditApplied - invoice.creditedToBalance,
  };
  return Object.entries(rules).find(([, holds]) => !holds)?.[0] ?? null;
}

/** @throws InvariantError when the totals of an invoice do not equal the sums of its lines. */
export function assertTotals(invoice: Invoice): void {
  const broken = brokenTotalOf(invoice);
  invariant(broken === null, broken ?? '');
}
