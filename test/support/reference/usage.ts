import type { CreditLimits } from './given-back';
import { trueUp, within } from './limits';
import { type AddedUsage, returnCorrected, takeAdded } from './added';
import type { BillTerms } from './bill-terms';
import { type BilledLine, type BilledUsage, giveBack, listedOf, standing, UNTOUCHED } from './line';
import type { SoldPrice } from './offers';
import { usageCost } from './prices';
import { fraction, sum } from './money';

/** Usage of the customer, and the amounts that were billed for it. */

export interface UsageEvent {
  readonly at: number;
  readonly tenths: bigint;
  readonly region: string | null;
  isVoid: boolean;
}

/** The part of a billing period in which a price was sold. */
export type UsagePart = Pick<BilledUsage, 'from' | 'to' | 'part' | 'heldFrom' | 'fullMs'>;

export class Usage {
  readonly events: UsageEvent[] = [];
  private readonly billed: BilledUsage[] = [];
  /** Usage that was billed for the first time since the last call of {@link keepTerms}. */
  private fresh: BilledUsage[] = [];
  /** For each price and period, the events that existed when it was last billed. */
  private readonly marked = new Map<BilledUsage, ReadonlySet<UsageEvent>>();

  /**
   * @param onLate is called when usage changes after it was billed, with the index of the subscription that billed it
   */
  constructor(private readonly onLate: (subscription: number) => void) {}

  /**
   * Returns true if all bills of sums whose period contains the event have counted it; null if there is no such bill.
   */
  isBilled(event: UsageEvent): boolean | null {
    const bills = this.billed.filter((usage) => !usage.price.isHeld && counts(usage, event.at));
    if (bills.length === 0) return null;
    return bills.every((usage) => this.marked.get(usage)?.has(event) === true);
  }

  report(at: number, tenths: bigint, region: string | null): void {
    this.events.push({ at, tenths, region, isVoid: false });
    this.changed(at);
  }

  void(event: UsageEvent): void {
    if (event.isVoid) return;
    event.isVoid = true;
    this.changed(event.at);
  }

  /** Bills a period for the first time. Returns no line if there is neither usage nor a fee. */
  bill(...bill: Parameters<typeof billedOf>): readonly BilledLine[] {
    const usage = billedOf(...bill);
    this.billed.push(usage);
    this.fresh.push(usage);
    return this.add(usage);
  }

  /** Stores the terms of a bill with the usage that got no line on it. */
  keepTerms(terms: BillTerms): void {
    for (const usage of this.fresh) if (standing(usage.lines).length === 0) usage.terms = terms;
    this.fresh = [];
  }

  /** Returns true if {@link bill} would return no lines. */
  isNothing(...bill: Parameters<typeof billedOf>): boolean {
    const [, price, { part }] = bill;
    const rated = this.rate(billedOf(...bill));
    const amount = sum(rated.map((one) => one.amount));
    return rated.every((one) => one.used === 0n) && within(amount, price, part) === 0n;
  }

  private add(usage: BilledUsage): readonly BilledLine[] {
    this.mark(usage);
    const lines = this.rate(usage)
      .filter(({ amount, used }) => amount !== 0n || used !== 0n)
      .map(({ amount }) => addLine(usage, amount, false));
    const limited = trueUp(usage.price, lines, likeOf(usage, false));
    usage.lines.push(...limited);
    return [...lines, ...limited];
  }

  /** Returns true if billed usage of a subscription has changed and must be corrected. */
  isLate(subscription: number): boolean {
    return this.billed.some(
      (usage) =>
        usage.subscription === subscription && usage.isLate && this.owed(usage, null) !== null,
    );
  }

  /**
   * Rates changed periods again and bills the differences. A negative difference takes back at most what the lines
   * hold. A positive one has the taxes and coupons of the bill.
   */
  late(subscription: number, limits: CreditLimits, added: AddedUsage): readonly BilledLine[] {
    return this.billed
      .filter((usage) => usage.subscription === subscription && usage.isLate)
      .sort((one, other) => one.from - other.from)
      .flatMap((usage) => this.correct(usage, limits, added));
  }

  private correct(
    usage: BilledUsage,
    limits: CreditLimits,
    added: AddedUsage,
  ): readonly BilledLine[] {
    usage.isLate = false;
    this.mark(usage);
    const owed = this.owed(usage, limits);
    if (owed === null) return [];
    if (owed.back !== null) {
      returnCorrected(owed.back.returned);
      return [addLine(usage, owed.amount, true, owed)];
    }
    const terms = added.termsOf(usage, owed.amount);
    const line = addLine(usage, owed.amount, true, { ...owed, added: terms });
    return [addedTo(line, added.monthsFrom)];
  }

  /** Returns the rated less the billed usage of a period, at list prices. Void lines count as never billed. */
  private difference(usage: BilledUsage): bigint {
    const rated = sum(this.rate(usage).map(({ amount }) => amount));
    return within(rated, usage.price, usage.part) - sum(standing(usage.lines).map(listedOf));
  }

  /**
   * Returns the difference between rated and billed usage; null if nothing is to be corrected. A positive difference is
   * at list prices. A negative one is converted to a share of the paid amount.
   */
  private owed(
    usage: BilledUsage,
    limits: CreditLimits | null,
  ): Pick<BilledLine, 'back' | 'listed' | 'taken' | 'amount'> | null {
    const difference = this.difference(usage);
    if (difference === 0n) return null;
    if (difference > 0n) return { amount: difference, back: null, listed: null, taken: null };
    const lines = standing(usage.lines);
    const listed = sum(lines.map(listedOf));
    const share = -difference < listed ? fraction(-difference, listed) : fraction(1n);
    const given = giveBack(lines, share);
    if (given.amount === 0n && given.back.returned.length === 0 && listed <= 0n) return null;
    const { amount, back, taken } = limits?.correct(given) ?? { ...given, taken: [] };
    return { amount: -amount, back, listed: difference, taken };
  }

  /**
   * Bills the usage of a void invoice again. If what is owed is the same as before, the lines are the same. Otherwise,
   * if no other invoice has billed the usage, bills all present usage. If another has, bills the difference to it.
   * Returns no lines and changes nothing if nothing is owed.
   *
   * @param others true if the new invoice also has lines for other charges
   */
  billAgain(
    before: readonly BilledLine[],
    limits: CreditLimits,
    added: AddedUsage,
    others: boolean,
  ): readonly BilledLine[] {
    const all = [...new Set(before.flatMap((line) => line.usage ?? []))];
    const states = all.map((usage) => ({ ...usage, usage, marked: this.marked.get(usage) }));
    const changed = states.filter(({ usage }) => !this.isTheSame(usage, before));
    const isBilledAgain = ({ usage }: (typeof states)[number]): boolean =>
      standing(usage.lines).length === 0 &&
      before.every((line) => line.usage !== usage || !line.isLate);
    const same = states
      .filter((one) => !changed.includes(one))
      .flatMap(({ usage }) => {
        const lines = before.filter((line) => line.usage === usage).map(copyOf);
        usage.lines.push(...lines);
        return lines;
      });
    const anew = changed.filter(isBilledAgain);
    const lines = [
      ...same,
      ...anew.flatMap(({ usage }) => this.add(usage)),
      ...changed
        .filter((one) => !anew.includes(one))
        .flatMap(({ usage }) => this.correct(usage, limits, added)),
    ];
    if (lines.length === 0 && !others) {
      for (const { usage, isLate, marked } of changed) {
        usage.isLate = isLate;
        if (marked !== undefined) this.marked.set(usage, marked);
      }
      return [];
    }
    for (const { usage } of states) {
      usage.isLate = false;
      this.mark(usage);
    }
    this.fresh.push(...anew.map(({ usage }) => usage));
    return lines;
  }

  private isTheSame(usage: BilledUsage, before: readonly BilledLine[]): boolean {
    const lines = before.filter((line) => line.usage === usage);
    return (
      lines.every(({ isLate }) => !isLate) && this.difference(usage) === sum(lines.map(listedOf))
    );
  }

  /** Marks usage that a void invoice corrected, so that the next invoice corrects it again. */
  reopen(lines: readonly BilledLine[]): void {
    for (const { usage, isLate } of lines) if (usage !== null && isLate) this.markLate(usage);
  }

  private changed(at: number): void {
    for (const usage of this.billed) {
      // Usage of no time cannot change.
      if (usage.from < usage.to && counts(usage, at)) this.markLate(usage);
    }
  }

  private markLate(usage: BilledUsage): void {
    usage.isLate = true;
    this.onLate(usage.subscription);
  }

  /** Returns the counted events, sorted by timestamp. Of two events at one instant, the one accepted first comes first. */
  private counted(usage: BilledUsage): readonly UsageEvent[] {
    const counted = this.events.filter(({ at, isVoid }) => !isVoid && counts(usage, at));
    return counted.sort((one, other) => one.at - other.at);
  }

  private mark(usage: BilledUsage): void {
    this.marked.set(usage, new Set(this.counted(usage)));
  }

  /** Rates the usage of each group separately if the price says so. Otherwise rates all usage together, even if there is none. */
  private rate(usage: BilledUsage): readonly { amount: bigint; used: bigint }[] {
    const { price, fullMs, part } = usage;
    const counted = this.counted(usage);
    const regions = [...new Set(counted.map(({ region }) => region))].sort(byName);
    const groups = price.isByGroup
      ? regions
          .map((region) => counted.filter((event) => event.region === region))
          .filter((events) => isThere(usage, events))
      : [counted];
    return groups.map((events) => {
      const amounts = events.map(({ tenths }) => tenths);
      const used = price.isHeld ? heldMs(usage, events) : sum(amounts);
      const over = price.isHeld ? fullMs : 1n;
      return { amount: usageCost(price, { tenths: used, over, events: amounts }, part), used };
    });
  }
}

function billedOf(subscription: number, price: SoldPrice, part: UsagePart): BilledUsage {
  return { subscription, price, ...part, lines: [], isLate: false, terms: null };
}

/** Returns true if an event of an instant counts. Events before a part of a period are held in it. */
function counts({ price, heldFrom, from, to }: BilledUsage, at: number): boolean {
  return (price.isHeld ? heldFrom : from) <= at && at < to;
}

/** Returns the sum of each event, in tenths, times the milliseconds for which the part of the period holds it. */
function heldMs({ from, to }: BilledUsage, events: readonly UsageEvent[]): bigint {
  return sum(events.map(({ at, tenths }) => tenths * BigInt(to - Math.max(at, from))));
}

/** Returns true if a group has events in the part of the period, or holds a value at its start. */
function isThere({ from }: BilledUsage, events: readonly UsageEvent[]): boolean {
  const before = events.filter(({ at }) => at < from);
  return before.length < events.length || sum(before.map(({ tenths }) => tenths)) !== 0n;
}

/** Sorts after all regions, so that the group without a region comes last. */
const LAST = '\uffff';

function byName(one: string | null, other: string | null): number {
  return (one ?? LAST) < (other ?? LAST) ? -1 : 1;
}

function addLine(
  usage: BilledUsage,
  amount: bigint,
  isLate: boolean,
  owed: Partial<Pick<BilledLine, 'back' | 'listed' | 'taken' | 'added'>> = {},
): BilledLine {
  const line: BilledLine = { ...likeOf(usage, isLate), type: 'usage', ...owed, amount };
  usage.lines.push(line);
  return line;
}

/** Returns a copy of a line with the state before it was on an invoice. */
function copyOf(line: BilledLine): BilledLine {
  return { ...line, ...UNTOUCHED, capped: line.capped };
}

/** Applies coupons to a line that adds usage to a bill. */
function addedTo(
  line: BilledLine,
  monthsFrom: (from: number, months: number) => number,
): BilledLine {
  if (line.added === null) return line;
  line.offs = takeAdded(line.added, line.amount, monthsFrom);
  line.discount = sum(line.offs.map(({ amount }) => amount));
  return line;
}

function likeOf(usage: BilledUsage, isLate: boolean): Omit<BilledLine, 'type' | 'amount'> {
  const { from, to, part } = usage;
  return {
    from,
    to,
    fullFrom: from,
    fullTo: to,
    unit: 'second',
    span: part,
    part,
    ...UNTOUCHED,
    item: null,
    together: [],
    creditedLine: null,
    price: usage.price,
    usage,
    isLate,
  };
}
