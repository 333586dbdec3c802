import { COUPONS, type ModelCoupon } from './catalog';
import type { BilledLine } from './line';
import { fraction, fromDecimal, least, rounded, split, sum, times } from './money';
import { taxLines } from './tax';

/** What is taken off, taxed and paid from credit, as the rules say it; all in minor units. */

export interface Redemption {
  readonly coupon: number;
  readonly at: number;
  readonly endsAt: number;
  /** Of an amount that lasts once. */
  left: bigint;
  /** Ended with its subscription. */
  isOver: boolean;
  isUsedUp: boolean;
}

export interface ReferenceInvoice {
  readonly subscription: number;
  readonly reason: string;
  lines: readonly BilledLine[];
  subtotal: bigint;
  discount: bigint;
  tax: bigint;
  total: bigint;
  creditApplied: bigint;
  creditsUsed: readonly { readonly credit: Credit; readonly amount: bigint }[];
  creditedToBalance: bigint;
  due: bigint;
  madeAt: number;
  /** What credit notes took off it, and what was paid for it. */
  credited: bigint;
  paid: bigint;
  /** Of payments under way. */
  pending: bigint;
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  isReissued: boolean;
  /** Whether its subscription never began. */
  isWithdrawn: boolean;
  /** Automatic ones. */
  attempts: number;
  /** When it is charged next, or looked at once more; null: it waits. */
  chargeAt: number | null;
  overdueAt: number | null;
  readonly events: string[];
}

export interface Payer {
  /** Indexes of rates. */
  readonly taxes: readonly number[];
  readonly isExempt: boolean;
  /** From negative invoices and credit notes, oldest first. */
  readonly credits: Credit[];
}

/** What is left of something given to a customer. */
export interface Credit {
  left: bigint;
}

/** An invoice that says nothing yet. */
export function draft(subscription: number, reason: string, now: number): ReferenceInvoice {
  return {
    subscription,
    reason,
    lines: [],
    subtotal: 0n,
    discount: 0n,
    tax: 0n,
    total: 0n,
    creditApplied: 0n,
    creditsUsed: [],
    creditedToBalance: 0n,
    due: 0n,
    credited: 0n,
    paid: 0n,
    pending: 0n,
    madeAt: now,
    status: 'draft',
    isReissued: false,
    isWithdrawn: false,
    attempts: 0,
    chargeAt: null,
    overdueAt: null,
    events: ['created'],
  };
}

/** Makes a draft an invoice of these lines; it notes what it uses up of coupons and credit. */
export function finalize(
  invoice: ReferenceInvoice,
  lines: readonly BilledLine[],
  redemptions: readonly Redemption[],
  payer: Payer,
  now: number,
): void {
  takeOff(lines, redemptions);
  const subtotal = sum(lines.map(({ amount }) => amount));
  const discount = sum(lines.map((line) => line.discount));
  const tax = payer.isExempt ? 0n : taxLines(lines, payer.taxes);
  const total = subtotal - discount + tax;
  const creditsUsed = total > 0n ? useUp(payer.credits, total) : [];
  const creditApplied = sum(creditsUsed.map(({ amount }) => amount));
  const creditedToBalance = total < 0n ? -total : 0n;
  if (total < 0n) payer.credits.push({ left: -total });
  const due = total > 0n ? total - creditApplied : 0n;
  const amounts = { subtotal, discount, tax, total, creditApplied, creditedToBalance, due };
  const isPaid = due === 0n;
  const state = {
    status: isPaid ? 'paid' : 'open',
    madeAt: now,
    chargeAt: isPaid ? null : now,
  } as const;
  Object.assign(invoice, { lines, creditsUsed, ...amounts, ...state });
  invoice.events.push('finalized', ...(isPaid ? ['paid'] : []));
}

/** What there is to take off at an instant. */
export function runningAt(given: readonly Redemption[], now: number): readonly Redemption[] {
  return given.filter(({ at, endsAt, isOver }) => !isOver && at <= now && now < endsAt);
}

function takeOff(lines: readonly BilledLine[], given: readonly Redemption[]): void {
  const running = given.filter(({ isUsedUp }) => !isUsedUp);
  const isPercent = ({ coupon }: Redemption): boolean => couponOf(coupon).percentOff !== undefined;
  const inOrder = [...running.filter(isPercent), ...running.filter((one) => !isPercent(one))];
  for (const redemption of inOrder) {
    const { percentOff, duration } = couponOf(redemption.coupon);
    const bases = lines.map(({ amount, capped, discount }) =>
      amount > 0n ? amount - capped - discount : 0n,
    );
    const base = sum(bases);
    const off =
      percentOff === undefined
        ? least(redemption.left, base)
        : rounded(times(fraction(base, 100n), fromDecimal(percentOff)));
    split(off, bases).forEach((share, index) => {
      const line = lines[index];
      if (line !== undefined) line.discount += share;
    });
    if (off === 0n || duration !== 'once') continue;
    redemption.left -= percentOff === undefined ? off : redemption.left;
    redemption.isUsedUp = redemption.left === 0n;
  }
}

export function couponOf(index: number): ModelCoupon {
  const coupon = COUPONS[index];
  if (coupon === undefined) throw new Error(`There is no coupon ${index}.`);
  return coupon;
}

/** Takes what is owed from credit, oldest first. */
function useUp(credits: readonly Credit[], owed: bigint): ReferenceInvoice['creditsUsed'] {
  let rest = owed;
  return credits.flatMap((credit) => {
    const amount = least(credit.left, rest);
    credit.left -= amount;
    rest -= amount;
    return amount === 0n ? [] : [{ credit, amount }];
  });
}

/** What is neither paid nor credited, also where nobody expects it any more. */
export function owedOf(invoice: ReferenceInvoice): bigint {
  const { due, credited, paid } = invoice;
  return isOwed(invoice) ? due - credited - paid : 0n;
}

export function isOwed({ status }: ReferenceInvoice): boolean {
  return status === 'open' || status === 'uncollectible';
}
