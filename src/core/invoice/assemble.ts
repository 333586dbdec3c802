import { applyCoupons, type RedeemedCoupon } from '../discount';
import { invariant } from '../invariant';
import { total } from '../money';
import { taxInvoice, type AppliedTaxRate, type TaxTreatment } from '../tax';
import { trueUps, type Commitment } from './commitments';
import { applyCredits, type CreditGrant } from './credit-balance';
import type { AssembledInvoice, LineAmount } from './line';

export type InvoiceContents = {
  readonly currency: string;
  /** Recurring prices, arrears, usage, one-off items and credits, in the order shown on the invoice. */
  readonly lines: readonly LineAmount[];
  readonly commitments: readonly Commitment[];
  readonly coupons: readonly RedeemedCoupon[];
  readonly taxRates: readonly AppliedTaxRate[];
  readonly taxTreatment: TaxTreatment;
  readonly creditGrants: readonly CreditGrant[];
};

/**
 * Calculates an invoice in this order: lines, minimum and maximum true-ups, coupons on the positive lines, tax on the
 * discounted lines, credit balance, amount due. All amounts are minor units of one currency.
 * - A line with `fixedDiscounts` or `exactTaxes` keeps these discounts or taxes, which come from an earlier bill.
 * - If the total is negative, it is added to the credit balance, and nothing is due.
 * @throws InvariantError when a line or a credit has another currency than the invoice, two lines have the same id, or
 *   a total differs from the sum of its lines.
 */
export function assembleInvoice(contents: InvoiceContents): AssembledInvoice {
  const { currency, coupons, taxRates, taxTreatment, creditGrants } = contents;
  const raised = trueUps(currency, contents.lines, contents.commitments);
  const lines = [...contents.lines, ...raised.lines];
  assertLines(lines, currency);

  const discounts = applyCoupons(
    lines.map(({ lineId, amountMinor, fixedDiscounts }) => ({
      lineId,
      amountMinor:
        fixedDiscounts === undefined ? amountMinor - (raised.cappedMinor.get(lineId) ?? 0n) : 0n,
    })),
    coupons,
  );
  const discountsMinor = lines.map(
    ({ fixedDiscounts = [] }, index) =>
      (discounts.lineDiscountsMinor[index] ?? 0n) +
      total(fixedDiscounts.map(({ amountMinor }) => amountMinor)),
  );
  const discountMinor = total(discountsMinor);
  const discountOf = (index: number) => discountsMinor[index] ?? 0n;
  const tax = taxInvoice(
    lines.map((line, index) => ({ ...line, amountMinor: line.amountMinor - discountOf(index) })),
    taxRates,
    taxTreatment,
  );
  const subtotalMinor = total(lines.map(({ amountMinor }) => amountMinor));
  const totalMinor = subtotalMinor - discountMinor + tax.exclusiveTaxMinor;
  const credits = applyCredits(totalMinor, currency, creditGrants);
  const creditAppliedMinor = total(credits.map(({ amountMinor }) => amountMinor));

  const invoice: AssembledInvoice = {
    currency,
    lines: lines.map((line, index) => {
      const taxed = tax.lines[index];
      invariant(taxed !== undefined, 'every line is taxed');
      return {
        ...line,
        discountMinor: discountOf(index),
        discountShares:
          line.fixedDiscounts ??
          discounts.coupons.flatMap(({ redemptionId, sharesMinor }) => {
            const amountMinor = sharesMinor[index] ?? 0n;
            return amountMinor === 0n ? [] : [{ redemptionId, amountMinor }];
          }),
        netMinor: taxed.netMinor,
        taxMinor: taxed.taxMinor,
        taxShares: taxed.shares,
      };
    }),
    subtotalMinor,
    discountMinor,
    coupons: discounts.coupons,
    exclusiveTaxMinor: tax.exclusiveTaxMinor,
    inclusiveTaxMinor: tax.inclusiveTaxMinor,
    taxRates: tax.rates,
    taxNote: tax.note,
    totalMinor,
    credits,
    creditAppliedMinor,
    amountDueMinor: totalMinor > 0n ? totalMinor - creditAppliedMinor : 0n,
    creditedToBalanceMinor: totalMinor < 0n ? -totalMinor : 0n,
  };
  assertInvoiceAddsUp(invoice);
  return invoice;
}

/**
 * Asserts the invariants of every invoice, new or stored. Totals equal the sums of the lines. A total of zero or more
 * equals the amount due plus the applied credit. A negative total is added to the credit balance: a total of -5 adds 5.
 * @throws InvariantError when an invariant does not hold.
 */
export function assertInvoiceAddsUp(invoice: AssembledInvoice): void {
  const { lines, totalMinor } = invoice;
  invariant(
    total(lines.map(({ amountMinor }) => amountMinor)) === invoice.subtotalMinor,
    'the subtotal is the sum of the lines',
  );
  invariant(
    total(lines.map(({ discountMinor }) => discountMinor)) === invoice.discountMinor,
    'the discount is the sum of the discounts on lines',
  );
  invariant(
    total(lines.map(({ netMinor, taxMinor }) => netMinor + taxMinor)) === totalMinor,
    'the total is net and tax of the lines',
  );
  invariant(
    totalMinor === invoice.subtotalMinor - invoice.discountMinor + invoice.exclusiveTaxMinor,
    'the total is subtotal less discount plus exclusive tax',
  );
  invariant(invoice.amountDueMinor >= 0n, 'an invoice never owes the customer');
  invariant(
    totalMinor ===
      invoice.amountDueMinor + invoice.creditAppliedMinor - invoice.creditedToBalanceMinor,
    'the total is due, applied from credit, or credited',
  );
  for (const { amountMinor, discountMinor } of lines) {
    invariant(
      discountMinor === 0n || (discountMinor > 0n && discountMinor <= amountMinor),
      'a discount is part of its line',
    );
  }
}

function assertLines(lines: readonly LineAmount[], currency: string): void {
  invariant(
    lines.every((line) => line.currency === currency),
    'an invoice has one currency',
  );
  invariant(
    new Set(lines.map(({ lineId }) => lineId)).size === lines.length,
    'a line is on an invoice once',
  );
}
