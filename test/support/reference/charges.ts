import { datesBetween, secondsBetween } from './calendar';
import { isInAdvance, isWholeOnly, type Item, unitOf } from './items';
import { trueUp } from './limits';
import type { CreditLimits } from './given-back';
import { type BilledLine, billedWith, UNTOUCHED } from './line';
import { type Fraction, fraction, least, plus, rounded, times } from './money';
import { costOf } from './prices';
import type { ReferenceSubscription } from './subscription';
import type { Usage, UsagePart } from './usage';

/** A request to bill one price on an invoice. The lines are made together with the invoice. There may be no lines. */
export interface Bill {
  readonly make: () => readonly BilledLine[];
  /** True if later usage can add lines that do not exist now. */
  readonly isUsage: boolean;
  readonly isNothing: () => boolean;
  /** Item that the lines bill in advance, and the end of the billed time; null if they bill nothing in advance. */
  readonly advance: { readonly item: Item; readonly to: number } | null;
}

export type Bills = readonly Bill[];

/** Computes charges and credits of subscriptions, line by line. */
export class Charges {
  constructor(
    private readonly zone: string,
    private readonly usage: Usage,
    private readonly limits: () => CreditLimits,
  ) {}

  /**
   * Returns the charges in arrears of a period. An item that was sold in several parts of the period has a line for
   * each.
   */
  arrears(
    { index, items, period }: ReferenceSubscription,
    at: number,
    isTermination: boolean,
    changeUnit: 'day' | 'second' | null = null,
  ): Bills {
    if (period.isTrial || period.isOver) return [];
    return items
      .filter(({ price }) => price.timing === 'in_arrears')
      .flatMap((item) => {
        const from = Math.max(item.from, period.from);
        const holdsOn = item.to > at;
        const to = holdsOn ? at : item.to;
        const isEnd = isTermination && holdsOn;
        const isLastDay = isEnd || (!holdsOn && item.billsLastDay);
        const unitAtEnd = (holdsOn ? changeUnit : item.lastUnit) ?? unitOf(item);
        // A change that ended the item at the start of the period billed it with the former period.
        const wasBilled = !holdsOn && item.from < period.from;
        const isNoTime = wasBilled || unitAtEnd === unitOf(item);
        if (from > to || (from === to && !isLastDay && isNoTime)) return [];
        const lastsToPeriodEnd = isEnd || to === period.to;
        const isWhole =
          (from === period.fullFrom && to === period.to) ||
          (isWholeOnly(item) && from === period.from && lastsToPeriodEnd);
        const part = isWhole
          ? fraction(1n)
          : this.part(item, from, to, period, isLastDay, unitAtEnd);
        if (item.price.isMetered) {
          const full = { heldFrom: period.from, fullMs: BigInt(period.to - period.fullFrom) };
          return [this.usageOf(index, item, { from, to, part, ...full })];
        }
        return [billOf(item, 'recurring', from, { ...period, to }, part, period.to)];
      });
  }

  /** Returns credits for the unused time of prepaid lines that end later than `now` and are not credited yet. */
  credits(
    items: readonly Item[],
    now: number,
    isEnd: boolean,
    changeUnitOf: (item: Item) => 'day' | 'second' | null = () => null,
  ): Bills {
    const limits = this.limits();
    return items.filter(isInAdvance).map((item) => {
      const lines = item.billed
        .filter(({ to, isTakenBack }) => to > now && !isTakenBack)
        .flatMap((line) => {
          const from = Math.max(line.from, now);
          // The day on which a subscription ends is billed, unless the billed part has not started.
          const dayOfEnd = isEnd && line.unit === 'day' && now >= line.from ? 1n : 0n;
          // A line that begins later is counted in the unit in which it was billed. A line that has begun is counted in
          // the unit of the new version, if there is one.
          const unit = now < line.from ? line.unit : (changeUnitOf(item) ?? line.unit);
          const span = this.measure(unit, from, line.to) - dayOfEnd;
          const unused = fraction(
            span < 0n ? 0n : span,
            this.measure(unit, line.fullFrom, line.fullTo),
          );
          return creditOf(line, unused, now, limits);
        });
      const isNothing = (): boolean => lines.length === 0;
      return { make: () => lines, isUsage: false, isNothing, advance: null };
    });
  }

  private usageOf(index: number, { price }: Item, used: UsagePart): Bill {
    return {
      make: () => this.usage.bill(index, price, used),
      isUsage: true,
      isNothing: () => this.usage.isNothing(index, price, used),
      advance: null,
    };
  }

  part(
    item: Item,
    from: number,
    to: number,
    period: { readonly fullFrom: number; readonly to: number },
    isTermination: boolean,
    unitAtEnd = unitOf(item),
  ): Fraction {
    const unit = from === period.fullFrom ? unitAtEnd : unitOf(item);
    if (unit !== unitAtEnd) {
      const { over, under } = this.passed(unit, from, period);
      const part = plus(this.passed(unitAtEnd, to, period), fraction(-over, under));
      return part.over < 0n ? fraction(0n) : part;
    }
    const all = this.measure(unit, period.fullFrom, period.to);
    const dayOfEnd = isTermination && unit === 'day' ? 1n : 0n;
    const most = this.measure(unit, from, period.to);
    return fraction(least(this.measure(unit, from, to) + dayOfEnd, most), all);
  }

  /** Returns the part of a period that has passed at an instant. With the unit `day`, all days have the same length. */
  private passed(
    unit: 'day' | 'second',
    at: number,
    period: { readonly fullFrom: number; readonly to: number },
  ): Fraction {
    const { fullFrom, to } = period;
    return fraction(this.measure(unit, fullFrom, at), this.measure(unit, fullFrom, to));
  }

  private measure(unit: 'day' | 'second', from: number, to: number): bigint {
    return unit === 'day' ? datesBetween(from, to, this.zone) : secondsBetween(from, to);
  }
}

/**
 * Returns the credit for the unused part of a line. Returns none if it would take back neither an amount nor a
 * discount, unless credit notes took the amount before.
 */
export function creditOf(
  line: BilledLine,
  unused: Fraction,
  from: number,
  limits: CreditLimits,
): readonly BilledLine[] {
  const lines = billedWith(line);
  const { amount, back } = limits.giveBack(lines, unusedShare(line, unused));
  const isNoted = unused.over > 0n && lines.some((one) => one.creditedByNotes.amount > 0n);
  if (amount === 0n && back.returned.length === 0 && !isNoted) return [];
  line.credited += amount;
  line.isTakenBack = true;
  const credit = { type: 'credit', from, amount: -amount, part: unused, back } as const;
  return [{ ...line, ...UNTOUCHED, ...credit, creditedLine: line, together: [] }];
}

/** Returns the unused part of a line as a share of the billed part, at most 1. The units of the two parts may differ. */
function unusedShare({ span }: BilledLine, unused: Fraction): Fraction {
  if (unused.over === 0n) return fraction(0n);
  const [over, under] = [unused.over * span.under, unused.under * span.over];
  return fraction(least(over, under), under);
}

/** Returns the charge for a part of a period. */
export function billOf(...charge: Parameters<typeof chargeOf>): Bill {
  const [item, , , { to }, part] = charge;
  return {
    make: () => chargeOf(...charge),
    isUsage: false,
    isNothing: () => part.over === 0n,
    advance: isInAdvance(item) ? { item, to } : null,
  };
}

/** Returns a line and its true-ups; no line if `part` is 0. Adds a line in advance to the billed lines of its item. */
function chargeOf(
  item: Item,
  type: 'recurring' | 'proration',
  from: number,
  period: { readonly to: number; readonly fullFrom: number },
  part: Fraction,
  fullTo = period.to,
  span = part,
): readonly BilledLine[] {
  if (part.over === 0n) return [];
  const { price, quantity } = item;
  const whole = costOf(price, { tenths: BigInt(quantity) * 10n, events: [] });
  const like = {
    from,
    to: period.to,
    fullFrom: period.fullFrom,
    fullTo,
    unit: unitOf(item),
    part,
    span,
    ...UNTOUCHED,
    item: null,
    together: [],
    creditedLine: null,
    price,
    usage: null,
    isLate: false,
  };
  const sold = isInAdvance(item) ? item : null;
  const line: BilledLine = { ...like, type, amount: rounded(times(whole, part)), item: sold };
  line.together = [line, ...trueUp(price, [line], like)];
  for (const one of line.together) one.together = line.together;
  if (isInAdvance(item)) item.billed.push(line);
  return line.together;
}
