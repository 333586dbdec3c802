import { couponOf, moveToPeriod, type Payer, type ReferenceInvoice, runningAt } from './bill';
import { afterIntervals, datesBetween } from './calendar';
import type { Exemption } from './catalog';
import { type Bill, billOf, type Bills, Charges } from './charges';
import { Collection } from './collection';
import { Corrections } from './corrections';
import { CreditNotes } from './credit-notes';
import { Drafts } from './drafts';
import { FinalUsage } from './final-usage';
import { FirstPayments } from './first-payments';
import { CreditLimits } from './given-back';
import {
  FOREVER,
  isSameTerms,
  type Item,
  isInAdvance,
  isReplacedBy,
  isWholeOnly,
  itemsOf,
  replacementOf,
  swap,
  unitOf,
} from './items';
import { fraction } from './money';
import { Offers, type Terms, type TermsChange } from './offers';
import { Payments } from './payments';
import { begun, cut, dueOf, held, isEnded, type ReferenceSubscription } from './subscription';
import { Usage } from './usage';

/** Returns the items that are sold in the current period, or that ended at its start. */
function since({ items, period }: ReferenceSubscription): readonly Item[] {
  return items.filter(({ to }) => to >= period.from);
}

/**
 * Reference of the billing model: computes what customers owe by the rules, in the simplest way and without code of the
 * engine. Instants are milliseconds; a refusal is the code of the problem that the engine must answer.
 */
export class Reference {
  /** Tax rates that are archived or inactive. */
  readonly oldRates = new Set<number>();
  limitedCredits = 0;
  readonly offers = new Offers();
  readonly subscriptions: ReferenceSubscription[] = [];
  readonly invoices: ReferenceInvoice[] = [];
  readonly finalUsage = new FinalUsage();
  readonly usage: Usage = new Usage((subscription) => {
    this.finalUsage.changed(subscription, this.now);
  });
  readonly payments: Payments = new Payments(this);
  readonly collection: Collection = new Collection(this);
  readonly creditNotes: CreditNotes = new CreditNotes(this);
  readonly firstPayments: FirstPayments = new FirstPayments(this);
  readonly corrections: Corrections = new Corrections(this);
  readonly drafts: Drafts;
  private readonly charges: Charges;

  constructor(
    public now: number,
    readonly zone: string,
    readonly payer: Payer,
    graceHours: number,
  ) {
    this.charges = new Charges(zone, this.usage, () => new CreditLimits(this));
    this.drafts = new Drafts(this, graceHours);
  }

  subscription(index: number): ReferenceSubscription {
    const found = this.subscriptions[index];
    if (found === undefined) throw new Error(`There is no subscription ${index}.`);
    return found;
  }

  /** Starts a subscription at an instant that may be past. Work that fell due since then is done at once. */
  subscribe(
    terms: Terms,
    from: number,
    mode: ReferenceSubscription['mode'],
    trialDays: number,
    coupon: number | null,
    waits: boolean,
  ): void {
    const isTrial = trialDays > 0;
    const { length } = this.subscriptions;
    const subscription = begun(length, terms, from, mode, trialDays, this.zone);
    this.subscriptions.push(subscription);
    if (coupon !== null) this.redeem(subscription, coupon);
    const before = this.invoices.length;
    if (!isTrial) {
      this.open(subscription, true, 'subscription_start', []);
      if (waits) this.firstPayments.begin(subscription, this.invoices[before] ?? null);
    }
    this.catchUp(subscription);
  }

  /** Runs overdue work in order. Returns true if there was any. */
  catchUp(subscription: ReferenceSubscription): boolean {
    const isDue = dueOf(subscription) <= this.now;
    while (dueOf(subscription) <= this.now) this.fallDue(subscription);
    return isDue;
  }

  redeem(subscription: ReferenceSubscription, coupon: number): string | null {
    const { redemptions } = subscription;
    if (isEnded(subscription)) return 'subscription_not_running';
    if (redemptions.some((one) => one.coupon === coupon)) return 'coupon_already_redeemed';
    const terms = couponOf(coupon);
    if (terms.plan !== undefined && terms.plan !== subscription.terms.version.plan) {
      return 'coupon_not_for_plan';
    }
    const left = terms.duration === 'once' ? (terms.amountOff ?? null) : null;
    const fresh = {
      endsAt: null,
      left,
      uses: [],
      isOver: false,
      isRemoved: false,
      isUsedUp: false,
    };
    redemptions.push({ coupon, terms, at: this.now, ...fresh });
    return null;
  }

  /** Removes a coupon. Removing it again changes nothing. */
  removeCoupon({ redemptions }: ReferenceSubscription, place: number): void {
    const redemption = redemptions[place];
    if (redemption === undefined) throw new Error(`There is no redemption ${place}.`);
    Object.assign(redemption, { isOver: true, isRemoved: true });
  }

  change(
    subscription: ReferenceSubscription,
    change: TermsChange,
    when: 'now' | 'period_end',
    proration: 'prorate' | 'none' | null,
  ): string | null {
    const { status, period, pending } = subscription;
    if (!['active', 'trialing', 'past_due'].includes(status)) return 'subscription_not_running';
    if (pending !== null) return 'subscription_change_pending';
    const terms = this.offers.forChange(subscription.terms, change);
    if (typeof terms === 'string') return terms;
    const { version } = terms;
    const prorates = (proration ?? version.proration) !== 'none';
    const isSame = version.interval === subscription.terms.version.interval;
    // A change of the interval without proration takes effect with the next period.
    const waits = !isSame && !prorates && !period.isTrial;
    if (isSameTerms(subscription.terms, terms)) return null;
    subscription.events.push('updated');
    if (when === 'period_end' || waits) {
      subscription.pending = { kind: 'change', at: period.to, terms };
      return null;
    }
    const { now } = this;
    if (period.isTrial) {
      swap(subscription, terms, now);
    } else if (!isSame) {
      this.drafts.finalizeFor(subscription, held(subscription, now));
      this.moveToNextPeriod(subscription);
      const unit = unitOf(version);
      const bills = [
        ...this.charges.arrears(subscription, now, false, unit),
        ...this.charges.credits(since(subscription), now, false, () => unit),
      ];
      cut(subscription, now);
      subscription.items = [...subscription.items.filter(({ from }) => from <= now)];
      for (const item of subscription.items) {
        item.to = Math.min(item.to, now);
        item.isOver = true;
      }
      subscription.items.push(...itemsOf(terms, now));
      subscription.terms = terms;
      subscription.anchor = now;
      this.open(subscription, true, 'change', bills);
    } else if (prorates) {
      const { ended, added } = swap(subscription, terms, now);
      const unitAtEnd = (item: Item) => unitOf(replacementOf(item, added, now) ?? version);
      for (const item of ended) item.lastUnit = unitAtEnd(item);
      this.drafts.finalizeFor(subscription, ended);
      const begun = added.filter((item) => isInAdvance(item) && item.from === now);
      const charges = begun.map((item) => {
        const part = this.charges.part(item, now, period.to, period, false);
        return billOf(item, 'proration', now, period, part);
      });
      const items = since(subscription).filter(
        (item) => ended.includes(item) || isReplacedBy(item, ended),
      );
      // Credits and charges of 0 make no invoice, so late usage waits for a later one.
      const all = [...this.charges.credits(items, now, false, unitAtEnd), ...charges];
      const bills = all.filter((bill) => !bill.isNothing());
      if (bills.length > 0) this.bill(subscription, 'change', bills);
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
    if (isEnded(subscription)) return 'invalid_transition';
    if (status === 'incomplete') {
      if (when !== 'now') return 'subscription_not_running';
      this.firstPayments.cancel(subscription);
      return null;
    }
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
      item.billsLastDay = true;
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
      if (until !== null && datesBetween(item.to, this.now, this.zone) === 0n) {
        item.billsLastDay = false;
      }
      if (until === null || until <= this.now) continue;
      subscription.items.push({
        ...item,
        from: this.now,
        to: until,
        billsLastDay: false,
        lastUnit: null,
        billed: [],
      });
    }
    if (period.isOver) {
      subscription.anchor = this.now;
      this.open(subscription, true, 'renewal', []);
    }
    return null;
  }

  /** Changes the tax of all later invoices. The customer can keep a rate that is archived. */
  changeTaxes(taxes: readonly number[] | null, exemption: Exemption | null): string | null {
    const isGone = (rate: number): boolean =>
      this.oldRates.has(rate) && !this.payer.taxes.includes(rate);
    if (taxes?.some(isGone) === true) return 'reference_not_found';
    this.payer.taxes = taxes ?? this.payer.taxes;
    this.payer.exemption = exemption ?? this.payer.exemption;
    return null;
  }

  invoice(place: number): ReferenceInvoice {
    const found = this.invoices[place];
    if (found === undefined) throw new Error(`There is no invoice ${place}.`);
    return found;
  }

  /** Returns the next due instant; null if nothing is planned. */
  nextDue(): number | null {
    const { collection, drafts, finalUsage } = this;
    const planned = [...drafts.planned, ...finalUsage.planned, ...collection.planned];
    const dues = [...this.subscriptions.map(dueOf), ...planned];
    const due = Math.min(FOREVER, ...dues.filter((at) => at > this.now));
    return due === FOREVER ? null : due;
  }

  /** Advances the clock. Order at one instant: overdue notices, subscriptions, drafts, late usage, charges. */
  advance(to: number): void {
    for (;;) {
      const overdueAt = this.collection.nextOverdueAt;
      const dueAt = Math.min(FOREVER, ...this.subscriptions.map(dueOf));
      const draftAt = this.drafts.nextDueAt;
      const lateAt = this.finalUsage.nextDueAt;
      const next = Math.min(overdueAt, dueAt, draftAt, lateAt, ...this.collection.planned);
      if (next > to) break;
      this.now = Math.max(this.now, next);
      if (overdueAt === next) this.collection.reportOverdue(this.now);
      else if (dueAt === next) this.fallDueOnce();
      else if (draftAt === next) this.drafts.finalizeDue();
      else if (lateAt === next) this.billLateUsage();
      else this.collection.run(this.now);
    }
    this.now = to;
  }

  /** Bills usage that changed after the last invoice. */
  private billLateUsage(): void {
    for (const index of this.finalUsage.due(this.now)) {
      this.bill(this.subscription(index), 'late_usage', []);
    }
  }

  /** Does the next due work of each subscription. */
  private fallDueOnce(): void {
    const due = this.subscriptions.filter((one) => dueOf(one) <= this.now);
    due.sort((one, other) => dueOf(one) - dueOf(other));
    for (const subscription of due) this.fallDue(subscription);
  }

  private fallDue(subscription: ReferenceSubscription): void {
    const { period, pending } = subscription;
    const at = dueOf(subscription);
    if (subscription.status === 'incomplete') {
      this.firstPayments.fallDue(subscription);
      return;
    }
    const isBoundary = !period.isOver && period.to === at;
    if (pending?.kind === 'cancel' && pending.at <= at) {
      this.end(subscription, !isBoundary, pending.credits);
      return;
    }
    if (period.reportsAt === at) {
      period.reportsAt = null;
      subscription.events.push('trial_ending');
      return;
    }
    const bills = this.charges.arrears(subscription, at, false);
    period.isOver = true;
    if (subscription.status === 'paused') {
      subscription.events.push('updated');
      this.bill(subscription, 'renewal', bills, at);
      return;
    }
    const { interval } = subscription.terms.version;
    if (pending?.kind === 'change') {
      swap(subscription, pending.terms, at);
      subscription.pending = null;
    }
    const restartsPeriods = period.isTrial || subscription.terms.version.interval !== interval;
    if (restartsPeriods) subscription.anchor = at;
    if (period.isTrial) subscription.status = 'active';
    subscription.events.push(period.isTrial ? 'activated' : 'renewed');
    if (pending?.kind === 'change') subscription.events.push('updated');
    this.open(subscription, restartsPeriods, 'renewal', bills, at);
  }

  /** Starts a period. Bills the charges that are already due, then the prices in advance of the period. */
  private open(
    subscription: ReferenceSubscription,
    restartsPeriods: boolean,
    reason: string,
    due: Bills,
    boundaryAt: number | null = null,
  ): void {
    const { anchor, mode, terms } = subscription;
    const index = restartsPeriods ? 0 : subscription.period.index + 1;
    const { interval } = terms.version;
    const boundaryOf = (count: number): number =>
      afterIntervals(anchor, interval, count, this.zone, mode);
    const from = restartsPeriods ? anchor : subscription.period.to;
    const fullFrom = restartsPeriods && mode === 'anniversary' ? anchor : boundaryOf(index);
    const period = { from, to: boundaryOf(index + 1), fullFrom, index, isTrial: false };
    const before = subscription.period.from;
    subscription.period = { ...period, isOver: false, reportsAt: null };
    subscription.spans.push(subscription.period);
    const begun = subscription.items
      .filter((item) => isInAdvance(item) && item.from <= from && item.to > from)
      .map((item) => {
        const span =
          from === fullFrom
            ? fraction(1n)
            : this.charges.part(item, from, period.to, period, false);
        const part = isWholeOnly(item) ? fraction(1n) : span;
        return billOf(item, 'recurring', from, period, part, period.to, span);
      });
    const billedIn = begun.length > 0 || boundaryAt === null ? period.from : before;
    this.bill(subscription, reason, [...due, ...begun], boundaryAt, billedIn);
  }

  /** Moves invoices of changes at this instant to the next billing period, because the former period is cut off now. */
  private moveToNextPeriod({ index, redemptions }: ReferenceSubscription): void {
    const billed = this.invoices.filter((one) => one.subscription === index);
    moveToPeriod(billed, redemptions, this.now);
  }

  private end(subscription: ReferenceSubscription, isTermination: boolean, credits: boolean): void {
    const { period } = subscription;
    // A prepaid line that is not credited stays billed to the end of its period.
    const paidUntil = period.isTrial ? this.now : Math.max(period.to, this.now);
    const bills: Bill[] = [];
    if (!period.isOver) {
      this.drafts.finalizeFor(subscription, held(subscription, this.now));
      bills.push(...this.charges.arrears(subscription, this.now, isTermination));
      const isCredited = credits && isTermination && !period.isTrial;
      if (isCredited)
        bills.push(
          ...this.charges.credits(
            since(subscription).filter((item) => !isWholeOnly(item)),
            this.now,
            true,
          ),
        );
      cut(subscription, this.now);
    }
    subscription.status = 'canceled';
    subscription.endedAt = this.now;
    subscription.pending = null;
    subscription.events.push('canceled');
    if (!period.isTrial) this.bill(subscription, 'end', bills, isTermination ? null : this.now);
    for (const item of subscription.items) {
      const isCredited = credits && !isWholeOnly(item);
      item.to = Math.min(item.to, isInAdvance(item) && !isCredited ? paidUntil : this.now);
    }
    for (const redemption of subscription.redemptions) redemption.isOver = true;
  }

  private bill(
    subscription: ReferenceSubscription,
    reason: string,
    bills: Bills,
    boundaryAt: number | null = null,
    period = subscription.period.from,
  ): void {
    const closes = reason === 'end' || reason === 'late_usage';
    // Usage that is billed after the end belongs to no period.
    const billedIn = reason === 'late_usage' ? Number.NaN : period;
    const redemptions = runningAt(subscription.redemptions, this.now, billedIn);
    const order = { subscription, reason, bills, redemptions, closes, period: billedIn };
    if (boundaryAt === null) this.drafts.issue(order);
    else this.drafts.issueLater(order, boundaryAt);
  }
}
