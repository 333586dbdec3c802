import type { ModelPrice } from './catalog';
import type { BilledLine, BilledUsage } from './line';
import { type Fraction, fraction, fromDecimal, least, plus, rounded, sum, times } from './money';

/** What the customer of the reference used, and what was billed for it. */

export interface UsageEvent {
  readonly at: number;
  readonly tenths: bigint;
  isVoid: boolean;
  /** Whether it was there when its period was last billed, at any price. */
  isBilled: boolean;
}

export class Usage {
  readonly events: UsageEvent[] = [];
  private readonly billed: BilledUsage[] = [];

  report(at: number, tenths: bigint): void {
    this.events.push({ at, tenths, isVoid: false, isBilled: false });
    this.changed(at);
  }

  void(event: UsageEvent): void {
    if (event.isVoid) return;
    event.isVoid = true;
    this.changed(event.at);
  }

  /** A period billed for the first time: no line where nothing was used and nothing is due for that. */
  bill(subscription: number, price: ModelPrice, from: number, to: number): readonly BilledLine[] {
    const usage = { subscription, price, from, to, lines: [], isLate: false };
    this.billed.push(usage);
    const { amount, used } = this.rate(usage);
    return amount === 0n && used === 0n ? [] : [lineOf(usage, amount, false)];
  }

  /** What changed since its period was billed: rated anew, less what was billed; what is given back is held by then. */
  late(subscription: number): readonly BilledLine[] {
    return this.billed
      .filter((usage) => usage.subscription === subscription && usage.isLate)
      .sort((one, other) => one.from - other.from)
      .flatMap((usage) => {
        usage.isLate = false;
        const difference = this.rate(usage).amount - sum(usage.lines.map(({ amount }) => amount));
        const held = sum(usage.lines.map(heldOf));
        const amount = difference < -held ? -held : difference;
        return amount === 0n ? [] : [lineOf(usage, amount, true)];
      });
  }

  /** The lines of a void invoice are issued anew; what changed while they were void was not given back. */
  billAgain(before: readonly BilledLine[], again: readonly BilledLine[]): void {
    for (const { usage } of again) {
      if (usage === null) continue;
      const issued = again.filter((line) => line.usage === usage);
      usage.lines = [...usage.lines.filter((line) => !before.includes(line)), ...issued];
      usage.isLate = true;
    }
  }

  private changed(at: number): void {
    for (const usage of this.billed) if (usage.from <= at && at < usage.to) usage.isLate = true;
  }

  private rate({ price, from, to }: BilledUsage): { amount: bigint; used: bigint } {
    const counted = this.events.filter(({ at, isVoid }) => from <= at && at < to && !isVoid);
    for (const event of counted) event.isBilled = true;
    const used = sum(counted.map(({ tenths }) => tenths));
    return { amount: rounded(costOf(price, used)), used };
  }
}

function costOf({ amount, tiers }: ModelPrice, tenths: bigint): Fraction {
  if (tiers === undefined) return times(fromDecimal(amount), fraction(tenths, 10n));
  return tiers
    .filter(({ above }, index) => index === 0 || tenths > above * 10n)
    .map((tier) => {
      const upTo = tier.upTo === null ? tenths : least(tenths, tier.upTo * 10n);
      const units = fraction(upTo - tier.above * 10n, 10n);
      return plus(fraction(tier.flat), times(fromDecimal(tier.amount), units));
    })
    .reduce(plus);
}

function heldOf({ isVoid, amount, discount, credited }: BilledLine): bigint {
  return isVoid ? 0n : amount - discount - credited;
}

function lineOf(usage: BilledUsage, amount: bigint, isLate: boolean): BilledLine {
  const { from, to } = usage;
  const line: BilledLine = {
    type: 'usage',
    full: fraction(amount),
    from,
    to,
    fullFrom: from,
    fullTo: to,
    unit: 'second',
    part: fraction(1n),
    amount,
    discount: 0n,
    credited: 0n,
    item: null,
    takesBack: null,
    usage,
    isLate,
    isVoid: false,
  };
  usage.lines.push(line);
  return line;
}
