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
  isOver: boolean;
}

export interface ReferenceInvoice {
  readonly subscription: number;
  readonly reason: string;
  readonly lines: readonly BilledLine[];
  readonly subtotal: bigint;
  readonly discount: bigint;
  readonly tax: bigint;
  readonly total: bigint;
  readonly creditApplied: bigint;
  readonly creditsUsed: readonly { readonly credit: Credit; readonly amount: bigint }[];
  readonly creditedToBalance: bigint;
  readonly due: bigint;
  readonly madeAt: number;
  /** What credit notes took off it, and what was paid for it. */
  credited: bigint;
  paid: bigint;
  /** Of a payment under way. */
  pending: bigint;
  status: 'open' | 'paid' | 'void';
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

/** An invoice of these lines; it notes what it uses up of coupons and balance. */
export function bill(
  subscription: number,
  reason: string,
  lines: readonly BilledLine[],
  redemptions: readonly Redemption[],
  payer: Payer,
  now: number,
): ReferenceInvoice {
  takeOff(lines, redemptions, now);
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
  return {
    subscription,
    reason,
    lines,
    ...amounts,
    creditsUsed,
    credited: 0n,
    paid: 0n,
    pending: 0n,
    madeAt: now,
    status: isPaid ? 'paid' : 'open',
    isReissued: false,
    isWithdrawn: false,
    attempts: 0,
    chargeAt: isPaid ? null : now,
    overdueAt: null,
    events: ['created', 'finalized', ...(isPaid ? ['paid'] : [])],
  };
}

function takeOff(lines: readonly BilledLine[], given: readonly Redemption[], now: number): void {
  const running = given.filter(({ at, endsAt, isOver }) => !isOver && at <= now && now < endsAt);
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
    redemption.isOver = redemption.left === 0n;
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

/** What is neither paid nor credited. */
export function owedOf({ status, due, credited, paid }: ReferenceInvoice): bigint {
  return status === 'open' ? due - credited - paid : 0n;
}
