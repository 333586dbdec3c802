import { compare, parseDecimal, parseExact, ZERO, type Rational } from '../../../core/decimal';
import { groupBy } from '../../../core/grouping';
import { invariant } from '../../../core/invariant';
import { creditForUnused, forFullPeriod } from '../../../core/invoice';
import type { Proration } from '../../../core/proration';
import { rate, roundAtLine, trueUp, withinLimits, type Price } from '../../../core/rating';
import { greater, lesser } from '../../../core/money';
import { listedAmount } from './held-lines';
import type { InvoiceLine } from './invoice';
import { creditAtListPrice, type CreditTrace } from './trace';
import {
  type Correction,
  correctionOf,
  ratePart,
  type UsagePart,
  type UsageTrace,
  zeroUsageShare,
} from './usage';

export interface SimulatedPrice {
  readonly isByGroup: boolean;
  readonly rating: Price;
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
}

export type SimulatedLine = Pick<
  InvoiceLine,
  | 'id'
  | 'invoiceId'
  | 'kind'
  | 'amount'
  | 'priceId'
  | 'itemId'
  | 'period'
  | 'creditsLineId'
  | 'trace'
>;

/**
 * Returns the usage of a line, by group if the price is by group. If the new price is a percentage, includes the
 * charges for the events.
 */
export type PartsOf = (line: SimulatedLine, trace: UsageTrace) => readonly UsagePart[];

/** The charges and true-ups of a period on one invoice, or one line that corrects or credits such charges. */
interface Bill {
  readonly lines: readonly SimulatedLine[];
  readonly chargedMinor: bigint;
  /**
   * Amount at list prices. For a correction, this can be more negative than the amount of the line, because that amount
   * is limited to what was left of the billed lines.
   */
  readonly listedMinor: bigint;
  readonly trueUpMinor: bigint;
}

/**
 * Returns what an item would have cost at another price, in minor units before discount and tax. Rates charges and
 * usage again, applies the minimum and maximum of the price, and calculates late usage and credits for unused time from
 * the new amounts. At the price that was billed, the result is the billed total.
 *
 * @param lines in the order in which they were made
 */
export function simulateItem(
  lines: readonly SimulatedLine[],
  price: SimulatedPrice,
  partsOf: PartsOf,
): bigint {
  const bills: Bill[] = [];
  // Simulates charges first, because late usage and credits refer to them. A regenerated invoice may contain charges
  // that were made later.
  const [charges, others] = [lines.filter(isCharge), lines.filter((line) => !isCharge(line))];
  for (const together of groupBy([...charges, ...others], billKeyOf).values()) {
    bills.push(simulateBill(together, price, bills, partsOf));
  }
  return totalOf(bills);
}

function simulateBill(
  lines: readonly SimulatedLine[],
  price: SimulatedPrice,
  before: readonly Bill[],
  partsOf: PartsOf,
): Bill {
  const [first] = lines;
  invariant(first !== undefined, 'a bill has a line');
  const { trace } = first;
  if (trace.kind === 'credit') {
    const amountMinor = simulateCredit(first, trace, price, before);
    return singleLineBill(first, amountMinor, amountMinor);
  }
  if (trace.kind === 'usage' && trace.corrects !== null) {
    const again = simulateCorrection(first, trace, price, before, partsOf);
    return singleLineBill(first, again.amountMinor, again.differenceMinor);
  }
  const charges = lines.filter((line) => line.trace.kind !== 'true_up');
  const chargedMinor =
    charges.length === 0
      ? amountAtZeroUsage(price, prorationOf(lines))
      : charges.reduce((total, line) => total + simulateCharge(line, price, partsOf), 0n);
  const { minimumMinor, maximumMinor } = price;
  const due = trueUp(chargedMinor, { minimumMinor, maximumMinor }, prorationOf(lines));
  const trueUpMinor = due?.amountMinor ?? 0n;
  return { lines, chargedMinor, trueUpMinor, listedMinor: chargedMinor + trueUpMinor };
}

function simulateCharge(
  { trace, ...line }: SimulatedLine,
  price: SimulatedPrice,
  partsOf: PartsOf,
) {
  if (trace.kind === 'rated') {
    return roundAtLine(fullAmount(price.rating, trace.quantity), trace.proration);
  }
  invariant(trace.kind === 'usage', 'an item is billed by a quantity or by its usage');
  return ratedMinor(partsOf({ ...line, trace }, trace), price.rating, trace);
}

function simulateCorrection(
  line: SimulatedLine,
  trace: UsageTrace,
  { rating, minimumMinor, maximumMinor }: SimulatedPrice,
  before: readonly Bill[],
  partsOf: PartsOf,
): Correction {
  invariant(trace.corrects !== null, 'late usage corrects what was billed');
  const { heldMinor: oldHeldMinor, amountMinor: oldMinor, held, mostMinor } = trace.corrects;
  const together = before.filter(({ lines }) => lines.some(hasSamePeriod(line)));
  const oldBilledMinor = together
    .flatMap(({ lines }) => lines)
    .reduce((total, one) => total + listedAmount(one), 0n);
  // The rest was billed by lines that are void now, whose amounts at the new price are not known.
  const billedMinor = together.reduce(
    (total, { listedMinor }) => total + listedMinor,
    oldMinor - oldBilledMinor,
  );
  // Assumes that the same amounts were discounted and taken back at the new price.
  const moreMinor = billedMinor - oldMinor;
  const heldMinor = greater(oldHeldMinor + moreMinor, 0n);
  return correctionOf(
    ratedMinor(partsOf(line, trace), rating, trace),
    { ...trace.limits, minimumMinor, maximumMinor },
    {
      amountMinor: billedMinor,
      heldMinor,
      ...(mostMinor === undefined ? {} : { mostMinor }),
      ...(held === undefined
        ? {}
        : { held: { ...held, heldMinor, listedMinor: greater(held.listedMinor + moreMinor, 0n) } }),
    },
  );
}

function simulateCredit(
  line: SimulatedLine,
  trace: CreditTrace,
  price: SimulatedPrice,
  before: readonly Bill[],
): bigint {
  const credited = before.find(({ lines }) => lines.some(({ id }) => id === line.creditsLineId));
  const charge = credited?.lines.find(({ id }) => id === line.creditsLineId);
  if (credited === undefined || charge?.trace.kind !== 'rated') return line.amount;
  const earlier = before.filter(({ lines: [one] }) => one?.creditsLineId === line.creditsLineId);
  const oldCreditsMinor = earlier.reduce(
    (total, { lines: [one] }) => total - (one?.amount ?? 0n),
    0n,
  );
  const byNotesMinor = trace.creditedMinor - oldCreditsMinor;
  const amountMinor = credited.chargedMinor + credited.trueUpMinor;
  const creditedMinor = lesser(byNotesMinor - totalOf(earlier), amountMinor);
  const { billedProration: proration } = trace;
  const whole = fullAmount(price.rating, charge.trace.quantity);
  const priced = credited.trueUpMinor === 0n ? whole : withinLimits(whole, price);
  const creditFor = trace.held === undefined ? creditAtListPrice : creditForUnused;
  const creditMinor = creditFor(
    {
      fullAmount: isShareOfRoundedAmount(trace) ? forFullPeriod(amountMinor, proration) : priced,
      proration,
      amountMinor,
      discountMinor: lesser(trace.discountMinor, amountMinor - creditedMinor),
      creditedMinor,
    },
    trace.unused,
  );
  const { mostMinor } = trace;
  if (mostMinor === undefined) return -creditMinor;
  // Assumes that the same amount was refunded.
  return -lesser(creditMinor, greater(mostMinor + amountMinor - trace.billedMinor, 0n));
}

/**
 * Returns true if a credit was calculated from the rounded amount of the credited line. Older versions of the engine
 * calculated it from the amount before rounding.
 */
function isShareOfRoundedAmount({
  fullAmount,
  billedMinor,
  billedProration,
}: CreditTrace): boolean {
  return compare(parseExact(fullAmount), forFullPeriod(billedMinor, billedProration)) === 0;
}

function billKeyOf(line: SimulatedLine): string {
  const { id, invoiceId, period } = line;
  return !isCharge(line)
    ? id
    : `${invoiceId} ${period?.startAt.getTime()} ${period?.endAt.getTime()}`;
}

function isCharge({ trace }: SimulatedLine): boolean {
  return trace.kind !== 'credit' && !(trace.kind === 'usage' && trace.corrects !== null);
}

function singleLineBill(line: SimulatedLine, chargedMinor: bigint, listedMinor: bigint): Bill {
  return { lines: [line], chargedMinor, trueUpMinor: 0n, listedMinor };
}

function hasSamePeriod({ period }: SimulatedLine): (line: SimulatedLine) => boolean {
  return (line) =>
    line.kind !== 'credit' &&
    line.period?.startAt.getTime() === period?.startAt.getTime() &&
    line.period?.endAt.getTime() === period?.endAt.getTime();
}

function prorationOf([first]: readonly SimulatedLine[]): Proration | null {
  switch (first?.trace.kind) {
    case 'rated':
    case 'true_up':
      return first.trace.proration;
    case 'usage':
      return first.trace.limits.proration;
    default:
      return null;
  }
}

function ratedMinor(
  parts: readonly UsagePart[],
  price: Price,
  { price: soldAt, zeroUsageProration = null, limits }: UsageTrace,
): bigint {
  const isSameKind = (price.model === 'percentage') === (soldAt.model === 'percentage');
  const zeroUsage = isSameKind ? zeroUsageProration : zeroUsageShare(price, limits.proration);
  return parts.reduce((total, part) => total + ratePart(price, part, zeroUsage).amountMinor, 0n);
}

function fullAmount(price: Price, quantity: string): Rational {
  return rate(price, { kind: 'quantity', quantity: parseDecimal(quantity) }).amount;
}

/**
 * Returns the amount that a price charges for a quantity of 0, for a bill whose only line is a true-up. Returns 0 for a
 * price by group, because there were no groups to charge, and for a percentage price, because it has no fee at zero
 * usage.
 */
function amountAtZeroUsage(
  { rating, isByGroup }: SimulatedPrice,
  proration: Proration | null,
): bigint {
  return isByGroup || rating.model === 'percentage'
    ? 0n
    : roundAtLine(rate(rating, { kind: 'quantity', quantity: ZERO }).amount, proration);
}

function totalOf(bills: readonly Bill[]): bigint {
  return bills.reduce((total, bill) => total + bill.chargedMinor + bill.trueUpMinor, 0n);
}
