import { bill, couponOf, type Payer, type ReferenceInvoice } from './bill';
import { afterDays, afterIntervals, datesBetween, secondsBetween } from './calendar';
import { Collection } from './collection';
import {
  FOREVER,
  isInAdvance,
  isWholeOnly,
  type Item,
  itemsOf,
  planOf,
  swap,
  type Terms,
  unitOf,
} from './items';
import type { BilledLine } from './line';
import { fraction, fromDecimal, least, rounded, times } from './money';
import type { ReferenceSubscription } from './subscription';
import { Usage } from './usage';

/**
 * The reference of the billing model: what customers owe by the rules, computed with nothing of the engine, in the plainest
 * way. Instants are milliseconds; a refusal is the code of the problem that the engine is to answer.
 */
const TRIAL_ENDING_MS = 3 * 24 * 3_600_000;

/** What an invoice is about: for each price the lines it gives, which may be none. */
type Bills = readonly (readonly BilledLine[])[];

export class Reference {
  readonly subscriptions: ReferenceSubscription[] = [];
  readonly invoices: ReferenceInvoice[] = [];
  readonly usage = new Usage();
  readonly collection = new Collection(this);

  constructor(
    public now: number,
    readonly zone: string,
    readonly payer: Payer,
  ) {}

  subscription(index: number): ReferenceSubscription {
    const found = this.subscriptions[index];
    if (found === undefined) throw new Error(`There is no subscription ${index}.`);
    return found;
  }

  subscribe(
    terms: Terms,
    mode: ReferenceSubscription['mode'],
    trialDays: number,
    coupon: number | null,
  ): void {
    const { now, zone } = this;
    const isTrial = trialDays > 0;
    const trialEnd = afterDays(now, trialDays, zone);
    const isShort = isTrial && trialEnd - TRIAL_ENDING_MS <= now;
    const subscription: ReferenceSubscription = {
      index: this.subscriptions.length,
      status: isTrial ? 'trialing' : 'active',
      terms,
      mode,
      anchor: now,
      items: itemsOf(terms, now),
      period: {
        from: now,
        to: trialEnd,
        fullFrom: now,
        index: -1,
        isTrial,
        isOver: false,
        tellsAt: isTrial && !isShort ? trialEnd - TRIAL_ENDING_MS : null,
      },
      pending: null,
      redemptions: [],
      events: ['created', isTrial ? 'updated' : 'activated', ...(isShort ? ['trial_ending'] : [])],
      spans: [],
    };
    this.subscriptions.push(subscription);
    if (coupon !== null) this.redeem(subscription, coupon);
    if (!isTrial) this.open(subscription, true, 'subscription_start', []);
  }

  redeem({ status, redemptions }: ReferenceSubscription, coupon: number): string | null {
    if (status === 'canceled') return 'subscription_not_running';
    if (redemptions.some((one) => one.coupon === coupon)) return 'coupon_already_redeemed';
    const { months, amountOff } = couponOf(coupon);
    const endsAt =
      months === undefined ? FOREVER : afterIntervals(this.now, 'month', months, this.zone);
    redemptions.push({ coupon, at: this.now, endsAt, left: amountOff ?? 0n, isOver: false });
    return null;
  }

  change(
    subscription: ReferenceSubscription,
    terms: Terms,
    when: 'now' | 'period_end',
    prorates: boolean,
  ): string | null {
    const { status, period, pending } = subscription;
    if (!['active', 'trialing', 'past_due'].includes(status)) return 'subscription_not_running';
    if (pending !== null) return 'subscription_change_pending';
    subscription.events.push('updated');
    const isSame = planOf(terms).interval === planOf(subscription.terms).interval;
    // Another interval without proration begins with the next period.
    const waits = !isSame && !prorates && !period.isTrial;
    if (when === 'period_end' || waits) {
      subscription.pending = { kind: 'change', at: period.to, terms };
      return null;
    }
    const { now } = this;
    if (period.isTrial) {
      swap(subscription, terms, now);
    } else if (!isSame) {
      const bills = [
        ...this.arrears(subscription, now, false),
        ...this.credits(this.held(subscription), true, false),
      ];
      cut(subscription, now);
      subscription.items = [...subscription.items.filter(({ from }) => from <= now)];
      for (const item of subscription.items) item.to = Math.min(item.to, now);
      subscription.items.push(...itemsOf(terms, now));
      subscription.terms = terms;
      subscription.anchor = now;
      this.open(subscription, true, 'change', bills);
    } else if (prorates) {
      const { ended, added } = swap(subscription, terms, now);
      const charges = added.filter(isInAdvance).map((item) => {
        const part = this.part(item, now, period.to, period, false);
        return chargeOf(item, 'proration', now, period, part);
      });
      this.bill(subscription, 'change', [...this.credits(ended, true, false), ...charges]);
    } else {
      swap(subscription, terms, period.to);
    }
    return null;
  }

  cancel(
    subscription: ReferenceSubscription,
    when: 'now' | 'period_end' | number,
    credits: boolean,
  ): string | null {
    const { status, period, pending } = subscription;
    if (status === 'canceled') return 'invalid_transition';
    if (when === 'now') {
      this.end(subscription, true, credits);
      return null;
    }
    if (pending !== null) return 'subscription_change_pending';
    if (period.isOver) return 'subscription_not_running';
    const at = when === 'period_end' ? period.to : when;
    subscription.pending = { kind: 'cancel', at, credits };
    subscription.events.push('updated');
    return null;
  }

  uncancel(subscription: ReferenceSubscription): string | null {
    if (subscription.pending?.kind !== 'cancel') return 'subscription_not_canceling';
    subscription.pending = null;
    subscription.events.push('updated');
    return null;
  }

  pause(subscription: ReferenceSubscription): string | null {
    const { status, pending, items } = subscription;
    if (status !== 'active') return 'invalid_transition';
    if (pending?.kind === 'change') return 'subscription_change_pending';
    subscription.status = 'paused';
    subscription.events.push('paused');
    for (const item of items.filter(({ price }) => price.timing === 'in_arrears')) {
      if (item.from > this.now || item.to <= this.now) continue;
      item.resumesUntil = item.to;
      item.to = this.now;
    }
    return null;
  }

  resume(subscription: ReferenceSubscription): string | null {
    const { status, period } = subscription;
    if (status !== 'paused') return 'invalid_transition';
    subscription.status = 'active';
    this.collection.resume(subscription);
    subscription.events.push('resumed');
    for (const item of [...subscription.items]) {
      const until = item.resumesUntil;
      item.resumesUntil = null;
      if (until === null || until <= this.now) continue;
      subscription.items.push({ ...item, from: this.now, to: until, billed: [] });
    }
    if (period.isOver) {
      subscription.anchor = this.now;
      this.open(subscription, true, 'renewal', []);
    }
    return null;
  }

  void(place: number): string | null {
    const invoice = this.invoice(place);
    if (invoice.lines.some(({ credited }) => credited > 0n)) return 'invoice_credited';
    invoice.status = 'void';
    invoice.chargeAt = this.now;
    invoice.events.push('voided');
    this.payer.balance += invoice.creditApplied;
    for (const line of invoice.lines) {
      line.isVoid = true;
      if (line.takesBack !== null) line.takesBack.credited += line.amount;
      if (line.item !== null) line.item.billed = line.item.billed.filter((one) => one !== line);
    }
    return null;
  }

  reissue(place: number): string | null {
    const { lines, subscription, reason } = this.invoice(place);
    const isOvertaken = lines.some(
      ({ item, takesBack, to }) => takesBack === null && item !== null && item.to < to,
    );
    const again = lines.flatMap((line) => {
      const from = line.takesBack;
      if (from === null) return [{ ...line, discount: 0n, credited: 0n, isVoid: false }];
      const isBilled = line.item?.billed.includes(from) ?? false;
      const held = isBilled ? from.amount - from.discount - from.credited : 0n;
      const amount = least(rounded(times(line.full, line.part)), held);
      return amount === 0n ? [] : [{ ...line, amount: -amount, isVoid: false }];
    });
    if (isOvertaken || again.length === 0) return 'invoice_overtaken';
    for (const line of again) {
      if (line.takesBack !== null) line.takesBack.credited -= line.amount;
      else line.item?.billed.push(line);
    }
    this.usage.billAgain(lines, again);
    this.issue(this.subscription(subscription), reason, again);
    this.invoice(place).isReissued = true;
    return null;
  }

  invoice(place: number): ReferenceInvoice {
    const found = this.invoices[place];
    if (found === undefined) throw new Error(`There is no invoice ${place}.`);
    return found;
  }

  /** When the next thing happens; null when nothing is planned. */
  nextDue(): number | null {
    const dues = [...this.subscriptions.map(dueOf), ...this.collection.planned];
    const due = Math.min(FOREVER, ...dues.filter((at) => at > this.now));
    return due === FOREVER ? null : due;
  }

  /** What falls due at the same instant, in this order: word of what is overdue, subscriptions, charges. */
  advance(to: number): void {
    for (;;) {
      const overdueAt = this.collection.nextOverdueAt;
      const dueAt = Math.min(FOREVER, ...this.subscriptions.map(dueOf));
      const next = Math.min(overdueAt, dueAt, ...this.collection.planned);
      if (next > to) break;
      this.now = Math.max(this.now, next);
      const subscription = this.subscriptions.find((one) => dueOf(one) === next);
      if (overdueAt === next) this.collection.tellOverdue(this.now);
      else if (subscription !== undefined) this.fallDue(subscription);
      else this.collection.run(this.now);
    }
    this.now = to;
  }

  private fallDue(subscription: ReferenceSubscription): void {
    const { period, pending } = subscription;
    const isBorder = !period.isOver && period.to === this.now;
    if (pending?.kind === 'cancel' && pending.at <= this.now) {
      this.end(subscription, !isBorder, pending.credits);
      return;
    }
    if (period.tellsAt === this.now) {
      period.tellsAt = null;
      subscription.events.push('trial_ending');
      return;
    }
    const bills = this.arrears(subscription, this.now, false);
    period.isOver = true;
    if (subscription.status === 'paused') {
      this.bill(subscription, 'renewal', bills);
      return;
    }
    const { interval } = planOf(subscription.terms);
    if (pending?.kind === 'change') {
      swap(subscription, pending.terms, this.now);
      subscription.pending = null;
    }
    const isAnew = period.isTrial || planOf(subscription.terms).interval !== interval;
    if (isAnew) subscription.anchor = this.now;
    if (period.isTrial) subscription.status = 'active';
    subscription.events.push(period.isTrial ? 'activated' : 'renewed');
    if (pending?.kind === 'change') subscription.events.push('updated');
    this.open(subscription, isAnew, 'renewal', bills);
  }

  /** Begins a period, and bills what is paid in advance for it after what is due already. */
  private open(
    subscription: ReferenceSubscription,
    isAnew: boolean,
    reason: string,
    due: Bills,
  ): void {
    const { anchor, mode, terms } = subscription;
    const index = isAnew ? 0 : subscription.period.index + 1;
    const { interval } = planOf(terms);
    const borderAt = (count: number): number =>
      afterIntervals(anchor, interval, count, this.zone, mode);
    const from = isAnew ? anchor : subscription.period.to;
    const fullFrom = isAnew && mode === 'anniversary' ? anchor : borderAt(index);
    const period = { from, to: borderAt(index + 1), fullFrom, index, isTrial: false };
    subscription.period = { ...period, isOver: false, tellsAt: null };
    subscription.spans.push(subscription.period);
    const begun = subscription.items
      .filter((item) => isInAdvance(item) && item.from <= from && item.to > from)
      .map((item) => {
        const part =
          from === fullFrom || isWholeOnly(item)
            ? fraction(1n)
            : this.part(item, from, period.to, period, false);
        return chargeOf(item, 'recurring', from, period, part);
      });
    this.bill(subscription, reason, [...due, ...begun]);
  }

  private end(subscription: ReferenceSubscription, isTermination: boolean, credits: boolean): void {
    const { period } = subscription;
    // What was paid in advance and is not credited stays billed to the end of its period.
    const paidUntil = credits || period.isTrial ? this.now : Math.max(period.to, this.now);
    const bills: (readonly BilledLine[])[] = [];
    if (!period.isOver) {
      bills.push(...this.arrears(subscription, this.now, isTermination));
      const isCredited = credits && isTermination && !period.isTrial;
      bills.push(...this.credits(this.held(subscription), isCredited, true));
      cut(subscription, this.now);
    }
    subscription.status = 'canceled';
    subscription.pending = null;
    subscription.events.push('canceled');
    this.bill(subscription, 'end', bills);
    for (const item of subscription.items) {
      item.to = Math.min(item.to, isInAdvance(item) ? paidUntil : this.now);
    }
    for (const redemption of subscription.redemptions) redemption.isOver = true;
  }

  /** What a period bills when it is over, a line for each part. */
  private arrears(
    { index, items, period }: ReferenceSubscription,
    at: number,
    isTermination: boolean,
  ): Bills {
    if (period.isTrial || period.isOver) return [];
    return items
      .filter(({ price }) => price.timing === 'in_arrears')
      .flatMap((item) => {
        const from = Math.max(item.from, period.from);
        const holdsOn = item.to > at;
        const to = holdsOn ? at : item.to;
        const isLastDay = isTermination && holdsOn;
        if (from > to || (from === to && !isLastDay)) return [];
        if (item.price.isMetered) {
          return from === to ? [] : [this.usage.bill(index, item.price, from, to)];
        }
        const isToTheEnd = holdsOn || to === period.to;
        const isWhole =
          (from === period.fullFrom && to === period.to) || (isWholeOnly(item) && isToTheEnd);
        const part = isWhole ? fraction(1n) : this.part(item, from, to, period, isLastDay);
        return [chargeOf(item, 'recurring', from, { ...period, to }, part, period.to)];
      });
  }

  private held({ items }: ReferenceSubscription): readonly Item[] {
    return items.filter(({ to }) => to > this.now);
  }

  private credits(items: readonly Item[], credits: boolean, isEnd: boolean): Bills {
    if (!credits) return [];
    return items.filter(isInAdvance).map((item) =>
      item.billed
        .filter(({ to }) => to > this.now)
        .flatMap((line) => {
          const from = Math.max(line.from, this.now);
          // The day on which a subscription ends is billed, unless what was billed is yet to begin.
          const dayOfEnd = isEnd && line.unit === 'day' && this.now >= line.from ? 1n : 0n;
          const span = this.measure(line.unit, from, line.to) - dayOfEnd;
          const unused = fraction(
            span < 0n ? 0n : span,
            this.measure(line.unit, line.fullFrom, line.fullTo),
          );
          const held = line.amount - line.discount - line.credited;
          const amount = least(rounded(times(line.full, unused)), held);
          if (amount === 0n) return [];
          line.credited += amount;
          const credit = { type: 'credit', from: this.now, amount: -amount, part: unused } as const;
          return [{ ...line, ...credit, takesBack: line, discount: 0n, credited: 0n }];
        }),
    );
  }

  private part(
    item: Item,
    from: number,
    to: number,
    period: { readonly fullFrom: number; readonly to: number },
    isTermination: boolean,
  ) {
    const unit = unitOf(item);
    const all = this.measure(unit, period.fullFrom, period.to);
    const dayOfEnd = isTermination && unit === 'day' ? 1n : 0n;
    const most = this.measure(unit, from, period.to);
    return fraction(least(this.measure(unit, from, to) + dayOfEnd, most), all);
  }

  private measure(unit: 'day' | 'second', from: number, to: number): bigint {
    return unit === 'day' ? datesBetween(from, to, this.zone) : secondsBetween(from, to);
  }

  private bill(subscription: ReferenceSubscription, reason: string, bills: Bills): void {
    if (bills.length === 0) return;
    const lines = [...bills.flat(), ...this.usage.late(subscription.index)];
    if (lines.length > 0) this.issue(subscription, reason, lines);
  }

  private issue(
    { index, redemptions }: ReferenceSubscription,
    reason: string,
    lines: readonly BilledLine[],
  ): void {
    this.invoices.push(bill(index, reason, lines, redemptions, this.payer, this.now));
  }
}

function dueOf({ status, period, pending }: ReferenceSubscription): number {
  if (status === 'canceled') return FOREVER;
  return Math.min(
    period.isOver ? FOREVER : period.to,
    pending?.at ?? FOREVER,
    period.tellsAt ?? FOREVER,
  );
}

function cut({ period }: ReferenceSubscription, at: number): void {
  period.to = at;
  period.isOver = true;
}

/** A line and, where it was paid in advance, its place with the item; nothing where no part is left. */
function chargeOf(
  item: Item,
  type: 'recurring' | 'proration',
  from: number,
  period: { readonly to: number; readonly fullFrom: number },
  part: { readonly over: bigint; readonly under: bigint },
  fullTo = period.to,
): readonly BilledLine[] {
  if (part.over === 0n) return [];
  const { price, quantity } = item;
  const full = times(fromDecimal(price.amount), fraction(BigInt(quantity)));
  const line = {
    type,
    full,
    from,
    to: period.to,
    fullFrom: period.fullFrom,
    fullTo,
    unit: unitOf(item),
    part,
    amount: rounded(times(full, part)),
    discount: 0n,
    credited: 0n,
    item: isInAdvance(item) ? item : null,
    takesBack: null,
    usage: null,
    isLate: false,
    isVoid: false,
  };
  if (isInAdvance(item)) item.billed.push(line);
  return [line];
}
