import { COUPONS, type Exemption, type ModelCoupon } from './catalog';
import type { BilledLine } from './line';
import type { BillCoupon } from './bill-terms';
import { divideCorrections } from './corrected-parts';
import { isOfPlan } from './offers';
import {
  canBeUsedAgain,
  discountedPeriods,
  isFirstOfCorrection,
  mayDiscount,
  type Redemption,
} from './redemption';
import { fraction, fromDecimal, least, rounded, split, sum, times } from './money';
import { taxLines } from './tax';

/** Reference calculation of the discounts, taxes and credit of an invoice, in minor units. */

export interface ReferenceInvoice {
  readonly subscription: number;
  readonly reason: string;
  /** Start of the billing period that the invoice belongs to. */
  period: number;
  lines: readonly BilledLine[];
  /** Coupons of the invoice, without coupons of usage corrections. */
  coupons: readonly BillCoupon[];
  subtotal: bigint;
  discount: bigint;
  tax: bigint;
  total: bigint;
  /** Tax treatment of the customer when the invoice was finalized. */
  exemption: Exemption;
  creditApplied: bigint;
  creditsUsed: readonly { readonly credit: Credit; readonly amount: bigint }[];
  creditedToBalance: bigint;
  /** Credit of the customer from a negative total; null if the total is not negative. */
  credit: Credit | null;
  due: bigint;
  madeAt: number;
  /** Amount that credit notes and negative invoices took off the invoice. `paid`: amount that payments paid of it. */
  credited: bigint;
  paid: bigint;
  /** Amount reserved by payments in flight. */
  pending: bigint;
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  isRegenerated: boolean;
  /** Invoice that was regenerated from this one. */
  againAs: ReferenceInvoice | null;
  /** True if the invoice was voided because its subscription never became active. */
  isVoidedUnpaid: boolean;
  /** Number of automatic attempts to charge the invoice. */
  attempts: number;
  /** Instant of the next charge or check; null if none is planned. */
  chargeAt: number | null;
  overdueAt: number | null;
  readonly events: string[];
}

export interface Payer {
  /** Indexes of tax rates. */
  taxes: readonly number[];
  exemption: Exemption;
  /** Credit from negative invoices, credit notes and payments, oldest first. */
  readonly credits: Credit[];
}

/** A credit of the customer, with the amount that is left of it. */
export interface Credit {
  left: bigint;
}

/** Creates an invoice without lines. */
export function draft(
  subscription: number,
  reason: string,
  now: number,
  period: number,
): ReferenceInvoice {
  return {
    subscription,
    reason,
    period,
    lines: [],
    coupons: [],
    subtotal: 0n,
    discount: 0n,
    tax: 0n,
    total: 0n,
    exemption: 'none',
    creditApplied: 0n,
    creditsUsed: [],
    creditedToBalance: 0n,
    credit: null,
    due: 0n,
    credited: 0n,
    paid: 0n,
    pending: 0n,
    madeAt: now,
    status: 'draft',
    isRegenerated: false,
    againAs: null,
    isVoidedUnpaid: false,
    attempts: 0,
    chargeAt: null,
    overdueAt: null,
    events: ['created'],
  };
}

/** Finalizes a draft with these lines, and consumes coupons and credit. */
export function finalize(
  invoice: ReferenceInvoice,
  lines: readonly BilledLine[],
  redemptions: readonly Redemption[],
  payer: Payer,
  now: number,
  period: BilledIn,
): void {
  takeOff(invoice, lines, redemptions, period);
  const subtotal = sum(lines.map(({ amount }) => amount));
  const discount = sum(lines.map((line) => line.discount));
  const isTaxed = payer.exemption === 'none';
  const tax = taxLines(lines, isTaxed ? payer.taxes : []);
  divideCorrections(lines);
  const total = subtotal - discount + tax;
  const creditsUsed = total > 0n ? useUp(payer.credits, total) : [];
  const creditApplied = sum(creditsUsed.map(({ amount }) => amount));
  const creditedToBalance = total < 0n ? -total : 0n;
  invoice.credit = total < 0n ? { left: -total } : null;
  if (invoice.credit !== null) payer.credits.push(invoice.credit);
  const due = total > 0n ? total - creditApplied : 0n;
  const { exemption } = payer;
  const amounts = { subtotal, discount, tax, total, creditApplied, creditedToBalance, due };
  const isPaid = due === 0n;
  const state = {
    status: isPaid ? 'paid' : 'open',
    madeAt: now,
    chargeAt: isPaid ? null : now,
  } as const;
  Object.assign(invoice, { lines, exemption, creditsUsed, ...amounts, ...state });
  invoice.events.push('finalized', ...(isPaid ? ['paid'] : []));
}

/** The billing period of an invoice, and the coupons of its subscription. */
export interface BilledIn {
  readonly from: number;
  readonly all: readonly Redemption[];
  /** Returns the instant that is a number of months after another. */
  readonly monthsFrom: (from: number, months: number) => number;
}

/** Returns the coupons that can discount a billing period at an instant. */
export function runningAt(
  given: readonly Redemption[],
  now: number,
  period: number,
): readonly Redemption[] {
  return given.filter(
    ({ at, endsAt, isOver, isUsedUp }) =>
      !isOver && !isUsedUp && at <= now && (endsAt === null || period < endsAt),
  );
}

function takeOff(
  invoice: ReferenceInvoice,
  lines: readonly BilledLine[],
  running: readonly Redemption[],
  { from, all, monthsFrom }: BilledIn,
): void {
  // Leaves out usage corrections, whose returned discounts are in the coupons already.
  const credited = lines
    .filter(({ usage }) => usage === null)
    .flatMap(({ back }) => back?.returned ?? []);
  const returned = credited.filter((one) => canBeUsedAgain(one.redemption, one.period, from));
  const corrected = all.flatMap(({ uses }) => uses.filter(({ isOpen }) => isOpen));
  for (const use of corrected) Object.assign(use, { invoice, isOpen: false });
  const given = all.filter(
    (one) =>
      (isBegunOn(one, invoice) && running.includes(one)) ||
      (mayDiscount(one, from, invoice) &&
        ((running.includes(one) && !one.isUsedUp) ||
          (one.isUsedUp && returned.some(({ redemption }) => redemption === one)) ||
          (one.terms.duration === 'once' &&
            !one.isUsedUp &&
            !one.isOver &&
            one.uses.some((use) => corrected.includes(use) && use.returned > 0n)))),
  );
  const isPercent = ({ terms }: Redemption): boolean => terms.percentOff !== undefined;
  const inOrder = [...given.filter(isPercent), ...given.filter((one) => !isPercent(one))];
  const none = { taken: 0n, returned: 0n, unusable: 0n, ofRest: 0n, wasFirst: false };
  const own = { isOpen: false, isCorrection: false, begins: false, period: from, from, ...none };
  for (const { redemption, period, amount } of credited) {
    if (given.includes(redemption) && canBeUsedAgain(redemption, period, from)) continue;
    redemption.uses.push({ invoice, ...own, unusable: amount });
  }
  for (const redemption of inOrder) {
    const { percentOff, duration, amountOff, months, plan } = redemption.terms;
    // All discounted periods must be within the months of the coupon, also periods that this invoice corrects.
    const isBeyond = (starts: readonly number[]): boolean =>
      months !== undefined &&
      starts.some(
        (start) => start >= monthsFrom(from, months) || from >= monthsFrom(start, months),
      );
    if (isBeyond(discountedPeriods(redemption, invoice))) continue;
    if (isBegunOn(redemption, invoice) || isBeyond(discountedPeriods(redemption))) {
      invoice.coupons = [...invoice.coupons, { redemption, isUsed: false, isLimited: false }];
      continue;
    }
    const again = sum(
      returned.filter((one) => one.redemption === redemption).map(({ amount }) => amount),
    );
    const bases = lines.map(({ amount, capped, discount, price, added }) => {
      if (added !== null) return 0n;
      const isInScope = plan === undefined || (price !== null && isOfPlan(price, plan));
      return amount > 0n && isInScope ? amount - capped - discount : 0n;
    });
    const base = sum(bases);
    const most = maxDiscountOf(redemption, from, again);
    const share =
      percentOff === undefined
        ? base
        : rounded(times(fraction(base, 100n), fromDecimal(percentOff)));
    const off = most === null ? share : least(most, share);
    split(off, bases).forEach((part, index) => {
      const line = lines[index];
      if (line === undefined || part === 0n) return;
      line.discount += part;
      line.offs = [...line.offs, { redemption, period: from, amount: part }];
    });
    const isLimited = percentOff !== undefined && most !== null;
    invoice.coupons = [...invoice.coupons, { redemption, isUsed: off > 0n, isLimited }];
    if (off === 0n && again === 0n) continue;
    const wasFirst = off > 0n && most === null;
    const use = { taken: off, returned: again, ofRest: off, wasFirst };
    redemption.uses.push({ invoice, ...own, ...use });
    if (off > 0n && months !== undefined) {
      const endsAt = monthsFrom(from, months);
      if (redemption.endsAt === null || endsAt < redemption.endsAt) redemption.endsAt = endsAt;
    }
    if (duration !== 'once') continue;
    // A percentage ends with its first use. Afterwards, it can take off only discounts that returned to it.
    const hasRest = again > 0n || redemption.left !== null;
    if (amountOff !== undefined) redemption.left = restOfAmount(redemption, amountOff);
    else redemption.left = hasRest ? (most ?? 0n) - off : 0n;
    redemption.isUsedUp = redemption.left <= 0n;
  }
}

/** Returns true if a usage correction on the invoice was the first use of a percentage with duration `once`. */
function isBegunOn({ uses }: Redemption, invoice: ReferenceInvoice): boolean {
  return uses.some((use) => use.invoice === invoice && isFirstOfCorrection(use));
}

/** Returns the largest discount that a coupon may give; null: no limit. */
export function maxDiscountOf(
  { terms, left, uses }: Redemption,
  period: number,
  again: bigint,
): bigint | null {
  const { duration, amountOff } = terms;
  if (duration === 'once') return left === null ? null : positive(left + again);
  if (amountOff === undefined) return null;
  const inPeriod = uses.filter((one) => one.period === period);
  return positive(restOfAmount({ uses: inPeriod }, amountOff) + again);
}

/** Returns an amount less what invoices in effect took of it. Negative if they took more, once another one is void. */
function restOfAmount(
  { uses }: Pick<Redemption, 'uses'>,
  amountOff: bigint,
  except: ReferenceInvoice | null = null,
): bigint {
  const counting = uses.filter(({ invoice }) => invoice !== except && invoice.status !== 'void');
  return amountOff - sum(counting.map(({ taken, returned }) => taken - returned));
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

/**
 * Moves an invoice of a change to the next billing period, if the invoice has a line that starts with this period.
 * Another change at the same instant has ended the former period there.
 */
export function moveToPeriod(
  invoices: readonly ReferenceInvoice[],
  redemptions: readonly Redemption[],
  from: number,
): void {
  const startsThen = ({ type, from: start }: BilledLine): boolean =>
    start === from && (type === 'proration' || type === 'credit');
  const isMoved = ({ reason, lines }: ReferenceInvoice): boolean =>
    reason === 'change' && lines.some(startsThen);
  for (const invoice of invoices.filter(isMoved)) {
    invoice.period = from;
    for (const line of invoice.lines.filter(({ added }) => added === null)) {
      line.offs = line.offs.map((off) => ({ ...off, period: from }));
    }
    const uses = redemptions.flatMap((redemption) => redemption.uses);
    for (const use of uses.filter((one) => one.invoice === invoice && !one.isCorrection)) {
      use.period = from;
    }
  }
}

/**
 * Takes back the discounts of a void invoice, both those that it took from coupons and those that it returned to them.
 * The months of a coupon then begin with the first period that another invoice discounts.
 */
export function takeBack(
  invoice: ReferenceInvoice,
  all: readonly Redemption[],
  monthsFrom: BilledIn['monthsFrom'],
): void {
  for (const redemption of all) {
    const { duration, amountOff, months } = redemption.terms;
    const uses = redemption.uses.filter((one) => one.invoice === invoice);
    if (months !== undefined) {
      const others = discountedPeriods(redemption, invoice);
      redemption.endsAt = others.length === 0 ? null : monthsFrom(Math.min(...others), months);
    }
    if (duration !== 'once' || uses.length === 0) continue;
    const isKept = redemption.uses.some(
      (use) => use.invoice !== invoice && isFirstOfCorrection(use),
    );
    const isFirst =
      amountOff === undefined &&
      uses.some(({ wasFirst, isCorrection }) => wasFirst && !(isCorrection && isKept));
    // A percentage is unused if it discounts no other invoice in effect.
    const isUnused =
      amountOff === undefined &&
      (redemption.left === null || discountedPeriods(redemption, invoice).length === 0);
    const change = sum(uses.map(({ ofRest, returned }) => ofRest - returned));
    const left = positive((redemption.left ?? 0n) + change);
    if (amountOff !== undefined) redemption.left = restOfAmount(redemption, amountOff, invoice);
    else redemption.left = isFirst || isUnused ? null : left;
    redemption.isUsedUp = redemption.left !== null && redemption.left <= 0n;
  }
}

export function couponOf(index: number): ModelCoupon {
  const coupon = COUPONS[index];
  if (coupon === undefined) throw new Error(`There is no coupon ${index}.`);
  return coupon;
}

/** Pays an owed amount from credits, oldest first. Returns the used amounts. */
function useUp(credits: readonly Credit[], owed: bigint): ReferenceInvoice['creditsUsed'] {
  let rest = owed;
  return credits.flatMap((credit) => {
    const amount = least(credit.left, rest);
    credit.left -= amount;
    rest -= amount;
    return amount === 0n ? [] : [{ credit, amount }];
  });
}

/** Returns the amount that is neither paid nor credited, for an open or uncollectible invoice; otherwise 0. */
export function owedOf(invoice: ReferenceInvoice): bigint {
  const { due, credited, paid } = invoice;
  return isOwed(invoice) ? due - credited - paid : 0n;
}

export function isOwed({ status }: ReferenceInvoice): boolean {
  return status === 'open' || status === 'uncollectible';
}
