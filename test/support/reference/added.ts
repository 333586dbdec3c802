import { maxDiscountOf, type ReferenceInvoice } from './bill';
import type { Added, BillCoupon, BillTerms } from './bill-terms';
import { FOREVER } from './items';
import { type BilledLine, type BilledUsage, type Off, listedOf, standing } from './line';
import { fraction, fromDecimal, least, rounded, split, sum, times } from './money';
import { isOfPlan } from './offers';
import { mayBegin, mayDiscount, type Redemption } from './redemption';

/** Usage that is added to a bill is discounted and taxed as it would have been on the bill. */

/** Usage of one price and period, or other lines that are billed together. */
interface Group {
  readonly owner: unknown;
  readonly plan: (plan: number) => boolean;
  amount: bigint;
}

export class AddedUsage {
  constructor(
    private readonly invoices: readonly ReferenceInvoice[],
    readonly monthsFrom: (from: number, months: number) => number,
  ) {}

  /**
   * Returns the taxes and coupons with which more usage is added to its bill; null if none are stored. `amount` is the
   * added amount at list prices.
   */
  termsOf(usage: BilledUsage, amount: bigint): Added | null {
    const first = usage.lines.filter(({ isLate }) => !isLate);
    const billing = this.invoices.filter(({ lines }) => first.some((one) => lines.includes(one)));
    const invoice = billing.find(({ status }) => status !== 'void');
    const newest = invoice ?? (usage.terms === null ? billing.at(-1) : undefined);
    const terms = newest === undefined ? this.currentTerms(usage.terms) : termsOf(newest, first);
    if (terms === null) return null;
    const { period, taxes, exemption } = terms;
    const inForce = terms.coupons.filter((one) => this.isInForce(one, period));
    const groups = invoice === undefined ? [groupOf(usage)] : groupsOf(invoice);
    const bases = basesOf(inForce, groups);
    const billed = sum(standing(usage.lines).map(listedOf));
    const peak = peakOf(usage);
    const coupons = inForce
      .filter(({ redemption: { terms: coupon } }) => isFor(coupon.plan, usage))
      .map((coupon) => {
        const { redemption } = coupon;
        const { duration } = redemption.terms;
        const begins =
          !coupon.isUsed && duration !== 'forever' && mayBegin(redemption, period, this.monthsFrom);
        const isLimited = coupon.isUsed ? coupon.isLimited : !begins;
        const isUnused = begins && redemption.left === null;
        const returned = peak > billed && !isUnused ? peak - billed : 0n;
        const again = isLimited ? amount : returned;
        return {
          redemption,
          base: bases.get(redemption) ?? 0n,
          again: redemption.terms.duration === 'once' ? again : 0n,
          begins,
        };
      });
    const isPercent = ({ redemption: { terms: coupon } }: (typeof coupons)[number]): boolean =>
      coupon.percentOff !== undefined;
    const inOrder = [...coupons.filter(isPercent), ...coupons.filter((one) => !isPercent(one))];
    return { period, taxes, exemption, coupons: inOrder };
  }

  /**
   * Returns the terms of a bill that had no line for the usage. If the invoice was regenerated, returns the terms of
   * the newest invoice, because coupons and taxes may have changed.
   */
  private currentTerms(kept: BillTerms | null): BillTerms | null {
    let invoice = this.invoices.find((one) => one === kept?.invoice);
    if (kept === null || invoice === undefined) return kept;
    while (invoice.againAs !== null) invoice = invoice.againAs;
    if (invoice === kept.invoice && invoice.status !== 'void') return kept;
    const charges = invoice.lines.filter(
      ({ creditedLine, isLate }) => creditedLine === null && !isLate,
    );
    const again = termsOf(invoice, charges);
    return charges.length === 0 ? { ...again, taxes: kept.taxes } : again;
  }

  /**
   * Returns true if a coupon can discount added usage. A percentage with duration `once` that another invoice of the
   * period has used can take off discounts that returned to it, and nothing else.
   */
  private isInForce({ redemption, isUsed }: BillCoupon, period: number): boolean {
    if (isUsed || mayBegin(redemption, period, this.monthsFrom)) return true;
    return redemption.terms.duration === 'once' && mayDiscount(redemption, period);
  }
}

/** Applies the coupons to an added amount, and returns the discounts. */
export function takeAdded(
  { coupons, period }: Added,
  amount: bigint,
  monthsFrom: (from: number, months: number) => number,
): readonly Off[] {
  let left = amount;
  return coupons.flatMap(({ redemption, base, again, begins }) => {
    const { percentOff, duration, months } = redemption.terms;
    const partOf = (one: bigint): bigint =>
      percentOff === undefined ? one : percent(base + one, percentOff) - percent(base, percentOff);
    const limited = partOf(percentOff === undefined ? left : least(again, left));
    const ofRest = least(limited, maxDiscountOf(redemption, period, 0n) ?? 0n);
    const off = ofRest + partOf(left) - limited;
    left -= off;
    if (off === 0n) return [];
    const wasFirst = begins && duration === 'once' && percentOff !== undefined;
    redemption.uses.push({ ...useOf(period), taken: off, ofRest, wasFirst, begins });
    if (duration === 'once') {
      redemption.left = (redemption.left ?? 0n) - ofRest;
      redemption.isUsedUp = redemption.left <= 0n;
    }
    if (months !== undefined) {
      redemption.endsAt = Math.min(redemption.endsAt ?? FOREVER, monthsFrom(period, months));
    }
    return [{ redemption, period, amount: off }];
  });
}

/** Records that discounts of corrected usage return to their coupons, each in the period in which it was taken. */
export function returnCorrected(returned: readonly Off[]): void {
  for (const { redemption, period, amount } of returned) {
    redemption.uses.push({ ...useOf(period), returned: amount });
    const { duration, percentOff } = redemption.terms;
    // Nothing returns to an unused percentage: voiding its bill has made it unused.
    if (duration !== 'once' || (percentOff !== undefined && redemption.left === null)) continue;
    redemption.left = (redemption.left ?? 0n) + amount;
    redemption.isUsedUp = redemption.left <= 0n;
  }
}

/** Returns a record that a usage correction uses a coupon. The invoice of the correction is entered after it is made. */
function useOf(period: number): Redemption['uses'][number] {
  const amounts = { taken: 0n, returned: 0n, unusable: 0n, ofRest: 0n };
  return {
    invoice: { status: 'open' },
    isOpen: true,
    period,
    from: period,
    isCorrection: true,
    wasFirst: false,
    begins: false,
    ...amounts,
  };
}

function percent(base: bigint, off: string): bigint {
  return rounded(times(fraction(base, 100n), fromDecimal(off)));
}

function termsOf(invoice: ReferenceInvoice, first: readonly BilledLine[]): BillTerms {
  const { period, exemption, coupons, status, lines } = invoice;
  const taxes = first.find((line) => lines.includes(line))?.taxes.map(({ rate }) => rate) ?? [];
  const used = coupons.map((one) => ({ ...one, isUsed: one.isUsed && status !== 'void' }));
  return { invoice, period, taxes, exemption, coupons: used };
}

function groupOf(usage: BilledUsage): Group {
  const plan = (one: number): boolean => isOfPlan(usage.price, one);
  return { owner: usage, plan, amount: sum(standing(usage.lines).map(listedOf)) };
}

/** Returns the groups that an invoice billed. Amounts include later corrections of usage. */
function groupsOf({ lines }: ReferenceInvoice): readonly Group[] {
  const groups: Group[] = [];
  for (const line of lines) {
    const { usage, isLate, creditedLine, together, price, amount } = line;
    if (creditedLine !== null || isLate) continue;
    const owner = usage ?? together;
    const found = groups.find((one) => one.owner === owner);
    if (usage !== null) {
      if (found === undefined) groups.push(groupOf(usage));
    } else if (found === undefined) {
      const plan = (one: number): boolean => price !== null && isOfPlan(price, one);
      groups.push({ owner, plan, amount });
    } else found.amount += amount;
  }
  return groups;
}

function basesOf(
  coupons: readonly BillCoupon[],
  groups: readonly Group[],
): ReadonlyMap<Redemption, bigint> {
  const left = groups.map(({ amount }) => (amount > 0n ? amount : 0n));
  const bases = new Map<Redemption, bigint>();
  for (const { redemption } of coupons) {
    const { percentOff, plan } = redemption.terms;
    if (percentOff === undefined) continue;
    const weights = left.map((amount, place) =>
      plan === undefined || groups[place]?.plan(plan) === true ? amount : 0n,
    );
    bases.set(redemption, sum(weights));
    split(percent(sum(weights), percentOff), weights).forEach((part, place) => {
      left[place] = (left[place] ?? 0n) - part;
    });
  }
  return bases;
}

function isFor(plan: number | undefined, { price }: BilledUsage): boolean {
  return plan === undefined || isOfPlan(price, plan);
}

/** Returns the largest amount, at list prices, that was billed for the usage at any time. */
function peakOf(usage: BilledUsage): bigint {
  const lines = standing(usage.lines);
  let billed = sum(lines.filter(({ isLate }) => !isLate).map(listedOf));
  let peak = billed;
  for (const line of lines.filter(({ isLate }) => isLate)) {
    billed += listedOf(line);
    if (billed > peak) peak = billed;
  }
  return peak;
}
