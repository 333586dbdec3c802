import type { Subscription } from './story';

/** Reference model of entitlement balances. All quantities are multiples of 0.25. */

export type ModelReset = 'period' | 'day' | 'week' | 'month' | 'never';

/** Entitlement of a plan; null: the plan does not list it. */
export type PlanAllowance = {
  readonly value: number | null;
  readonly isHard: boolean;
  readonly reset: ModelReset;
} | null;

export interface ModelLink {
  readonly mode: 'set' | 'increment';
  readonly value: number;
}

/** Subscription with the entitlements of its plan and add-ons. */
export interface ModelSubscription {
  readonly status: Subscription['status'];
  readonly startAt: number;
  readonly periodStart: number;
  readonly periodEnd: number;
  readonly plan: PlanAllowance;
  readonly addons: readonly { readonly link: ModelLink | null; readonly quantity: number }[];
}

export interface ModelGrant {
  readonly value: number;
  readonly priority: number;
  readonly expiresAt: number | null;
  readonly rollover: { readonly min: number; readonly max: number } | null;
  /** Balance at the start of the window. */
  balance: number;
  status: 'active' | 'expired' | 'lapsed' | 'voided';
}

interface ModelEvent {
  readonly at: number;
  readonly n: number;
  isVoided: boolean;
}

interface Window {
  readonly startAt: number;
  readonly endAt: number;
}

/** Allowance at an instant, with its window. */
interface Allowed {
  readonly amount: number;
  readonly isSoft: boolean;
  readonly isGiven: boolean;
  readonly window: Window | null;
}

const DAY_MS = 86_400_000;
const NONE: Allowed = { amount: 0, isSoft: false, isGiven: false, window: null };

export class AllowanceModel {
  readonly grants: ModelGrant[] = [];
  readonly events: ModelEvent[] = [];
  /**
   * True if the entitlement has come back to a window that it had left. That window may notify its thresholds again.
   */
  hasReturned = false;
  private readonly entered: Window[] = [];
  private allowed = NONE;
  private window: Window | null = null;
  /** Without a window: instant before which usage counted in former windows. */
  private coveredUntil = -Infinity;
  private consumed = 0;
  /** Usage when it was last split into plan usage and grant usage. */
  private counted = 0;
  /** Accepted consumptions of an entitlement without a meter. */
  private readonly consumptions: { readonly at: number; readonly n: number }[] = [];
  private expiredGrantUsage = 0;
  private planUsage = 0;

  constructor(
    private readonly isCounted: boolean,
    private readonly zone: string,
  ) {}

  /** Balance that the API must show. */
  get shown(): Readonly<Record<string, unknown>> {
    const isEntitled = this.allowed.isGiven || this.running.length > 0;
    const limit = isEntitled ? this.limit : 0;
    const remaining = Math.max(limit - this.used, 0);
    const resetsAt = isEntitled ? (this.window?.endAt ?? Infinity) : Infinity;
    return {
      has_access: isEntitled && (this.allowed.isSoft || remaining > 0),
      limit: shownNumber(limit),
      used: String(this.used),
      remaining: shownNumber(remaining),
      overage_allowed: this.allowed.isSoft,
      resets_at: resetsAt === Infinity ? null : new Date(resetsAt).toISOString(),
    };
  }

  /** Status and remaining balance of each grant, oldest first. */
  get shownGrants(): readonly (readonly [string, string | null])[] {
    const usage = this.grantUsage(this.used);
    return this.grants.map((grant) => {
      const left = grant.balance - (usage.get(grant) ?? 0);
      return [grant.status, grant.status === 'active' ? String(left) : null];
    });
  }

  /** Returns the first instant after the given one at which a grant expires or the window ends. */
  nextBoundary(after: number): number {
    const ends = [this.window?.endAt ?? Infinity, ...this.running.map(expiryOf)];
    return Math.min(...ends.filter((at) => at > after));
  }

  /** Moves the model to `now`, which must not be after the next boundary. The given subscriptions apply from then on. */
  recalculate(now: number, subscriptions: readonly ModelSubscription[]): void {
    const next = this.allowedBy(subscriptions, now);
    const wasEntitled = this.allowed.isGiven || this.running.length > 0;
    this.cover();
    for (const grant of this.running.filter((one) => expiryOf(one) <= now)) {
      this.endGrant(grant, 'expired', expiryOf(grant));
    }
    if (!wasEntitled && this.window !== null && this.window.endAt <= now) this.begin(null, 0, now);
    const isNothingLeft = !next.isGiven && this.running.length === 0;
    const isOver =
      this.window !== null && (this.window.endAt <= now || (isNothingLeft && !this.isUsed));
    const target =
      next.window ??
      (this.window !== null && !isOver
        ? this.window
        : isNothingLeft
          ? null
          : { startAt: this.window?.endAt ?? now, endAt: Infinity });
    const usedBefore = this.used;
    if (!isSame(this.window, target)) this.begin(target, next.amount, now);
    this.window = target;
    // The last grants may have lapsed with the window.
    if (!next.isGiven && this.running.length === 0 && !isNothingLeft) this.begin(null, 0, now);
    this.allowed = next;
    if (this.used !== usedBefore) this.cover();
  }

  /** Adds a grant. If nothing gave the entitlement until now, a window without usage ends first. */
  grant(terms: Omit<ModelGrant, 'balance' | 'status'>, now: number): void {
    const isEntitled = this.allowed.isGiven || this.running.length > 0;
    if (!isEntitled && !this.isUsed) this.begin(null, 0, now);
    this.grants.push({ ...terms, balance: terms.value, status: 'active' });
  }

  /** Consumes a quantity if it is allowed. Returns true if it was. */
  consume(quantity: number, now: number): boolean {
    const isEntitled = this.allowed.isGiven || this.running.length > 0;
    if (!isEntitled || !(this.allowed.isSoft || this.used + quantity <= this.limit)) return false;
    if (this.isCounted) this.report(now, quantity);
    else {
      this.consumptions.push({ at: now, n: quantity });
      this.consumed += quantity;
    }
    this.cover();
    return true;
  }

  report(at: number, n: number): void {
    this.events.push({ at, n, isVoided: false });
    this.cover();
  }

  voidEvent(event: ModelEvent): void {
    event.isVoided = true;
    this.cover();
  }

  endGrant(grant: ModelGrant, status: 'expired' | 'voided', at: number): void {
    const used = this.isCounted ? this.usedIn(this.window?.startAt ?? at, at) : this.consumed;
    const counted = status === 'voided' ? this.used : used;
    this.expiredGrantUsage += this.grantUsage(counted).get(grant) ?? 0;
    grant.status = status;
  }

  get running(): readonly ModelGrant[] {
    return this.grants.filter(({ status }) => status === 'active');
  }

  private get used(): number {
    if (this.window === null) return 0;
    return this.isCounted ? this.usedIn(this.window.startAt, this.window.endAt) : this.consumed;
  }

  private usedIn(from: number, to: number): number {
    const counted = this.events.filter(({ at, isVoided }) => !isVoided && at >= from && at < to);
    return counted.reduce((total, { n }) => total + n, 0);
  }

  private get limit(): number {
    const granted = this.running.reduce((total, { balance }) => total + balance, 0);
    return Math.max(this.allowed.amount, this.planUsage) + granted + this.expiredGrantUsage;
  }

  private get isUsed(): boolean {
    return this.used > 0 || this.expiredGrantUsage > 0;
  }

  /** Updates the plan usage. */
  private cover(): void {
    const coverable = Math.max(this.planUsage, this.allowed.amount);
    const beyond = Math.max(this.used - coverable, 0);
    const uncounted = Math.max(this.counted - this.used, 0);
    this.expiredGrantUsage = Math.max(
      this.expiredGrantUsage - uncounted,
      Math.min(this.expiredGrantUsage, beyond),
    );
    this.counted = this.used;
    this.planUsage = Math.min(Math.max(this.used - this.expiredGrantUsage, 0), coverable);
  }

  /** Returns the usage taken from each grant, in burn-down order. */
  private grantUsage(used: number): ReadonlyMap<ModelGrant, number> {
    let rest = Math.max(
      used - this.expiredGrantUsage - Math.max(this.allowed.amount, this.planUsage),
      0,
    );
    const inOrder = [...this.running].sort(
      (one, other) =>
        one.priority - other.priority ||
        (expiryOf(one) === expiryOf(other) ? 0 : expiryOf(one) - expiryOf(other)) ||
        this.grants.indexOf(one) - this.grants.indexOf(other),
    );
    return new Map(
      inOrder.map((grant) => {
        const part = Math.min(rest, grant.balance);
        rest -= part;
        return [grant, part];
      }),
    );
  }

  /**
   * Starts another window. Grants keep the balance that rolls over, or all of it if the old window had no end. If the
   * old window has not ended, the new one counts the usage since its start, and keeps the split into plan usage and
   * expired grant usage. If it also starts no later than the old one, only usage that nothing covered is still to be
   * covered, and usage after the end of the old one. After a time without a window, this is the usage of that time.
   */
  private begin(window: Window | null, amount: number, now: number): void {
    const usage = this.grantUsage(this.used);
    const taken = [...usage.values()].reduce((total, n) => total + n, this.expiredGrantUsage);
    const formerPlanUsage = this.planUsage;
    const former = this.window ?? { startAt: this.coveredUntil, endAt: this.coveredUntil };
    const uncovered =
      Math.max(this.used - formerPlanUsage - taken, 0) +
      this.usedIn(former.endAt, window?.endAt ?? 0);
    const isOverlapping = window !== null && former.endAt > window.startAt;
    const isEndless = this.window === null || this.window.endAt === Infinity;
    const isWhole = window !== null && window.startAt <= former.startAt;
    this.coveredUntil = former.endAt <= now ? former.endAt : former.startAt;
    for (const grant of this.running) {
      const left = grant.balance - (usage.get(grant) ?? 0);
      const { min, max } = isEndless ? { min: left, max: left } : (grant.rollover ?? NOTHING);
      grant.balance = Math.min(max, Math.max(min, left));
      if (!isEndless && grant.balance === 0) grant.status = 'lapsed';
    }
    this.window = window;
    if (window !== null) {
      this.hasReturned ||= this.entered.some((one) => isSame(one, window));
      this.entered.push(window);
    }
    this.consumed = 0;
    this.counted = 0;
    this.expiredGrantUsage = 0;
    this.planUsage = 0;
    if (!isOverlapping) return;
    this.consumed = this.consumptions
      .filter(({ at }) => at >= window.startAt)
      .reduce((total, { n }) => total + n, 0);
    this.expiredGrantUsage = Math.min(taken, isWhole ? this.used : Math.max(this.used - amount, 0));
    this.counted = this.used;
    const rest = this.used - this.expiredGrantUsage;
    const covered = isWhole ? rest - uncovered : formerPlanUsage;
    this.planUsage = Math.min(rest, Math.max(covered, amount));
  }

  private allowedBy(subscriptions: readonly ModelSubscription[], now: number): Allowed {
    const giving = subscriptions.filter(({ status }) => ['active', 'trialing'].includes(status));
    const plans = giving.flatMap((one) => (one.plan === null ? [] : [{ one, plan: one.plan }]));
    const addons = giving.flatMap((one) =>
      one.addons.flatMap(({ link, quantity }) =>
        link === null ? [] : [{ one, mode: link.mode, total: link.value * quantity }],
      ),
    );
    const setting = addons.filter(({ mode }) => mode === 'set').map(({ total }) => total);
    const base =
      setting.length > 0
        ? Math.max(...setting)
        : plans.reduce((total, { plan }) => total + (plan.value ?? Infinity), 0);
    const added = addons.filter(({ mode }) => mode === 'increment');
    const lead = plans[0]?.one ?? addons[0]?.one;
    if (lead === undefined) return NONE;
    return {
      amount: added.reduce((total, one) => total + one.total, base),
      isSoft: plans.some(({ plan }) => !plan.isHard),
      isGiven: true,
      window: this.windowOf(lead, plans[0]?.plan.reset ?? 'period', now),
    };
  }

  private windowOf(subscription: ModelSubscription, reset: ModelReset, now: number): Window {
    const { startAt, periodStart, periodEnd } = subscription;
    if (reset === 'never') return { startAt, endAt: Infinity };
    if (reset === 'period') return { startAt: periodStart, endAt: periodEnd };
    const [year, month, day] = localDate(now, this.zone);
    const weekday = (new Date(Date.UTC(year, month, day)).getUTCDay() + 6) % 7;
    const midnight = (m: number, d: number): number => localMidnight(year, m, d, this.zone);
    if (reset === 'day') return { startAt: midnight(month, day), endAt: midnight(month, day + 1) };
    if (reset === 'month') return { startAt: midnight(month, 1), endAt: midnight(month + 1, 1) };
    const monday = day - weekday;
    return { startAt: midnight(month, monday), endAt: midnight(month, monday + 7) };
  }
}

const NOTHING = { min: 0, max: 0 };

function expiryOf({ expiresAt }: ModelGrant): number {
  return expiresAt ?? Infinity;
}

function isSame(one: Window | null, other: Window | null): boolean {
  if (one === null || other === null) return one === other;
  return one.startAt === other.startAt && (one.endAt === Infinity) === (other.endAt === Infinity);
}

function shownNumber(value: number): string | null {
  return value === Infinity ? null : String(value);
}

/** Returns the year, the month (counted from 0) and the day of an instant in a time zone. */
function localDate(at: number, zone: string): readonly [number, number, number] {
  const text = new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(at);
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  return [year, month - 1, day];
}

/**
 * Finds the first instant of a local date. Tries instants 15 minutes apart, from 15 hours before midnight UTC on,
 * because no time zone is further ahead.
 */
function localMidnight(year: number, month: number, day: number, zone: string): number {
  const nominal = Date.UTC(year, month, day);
  const wanted = localDate(nominal, 'UTC').join('-');
  for (let at = nominal - 0.625 * DAY_MS; at < nominal + DAY_MS; at += 900_000) {
    if (localDate(at, zone).join('-') === wanted) return at;
  }
  throw new Error(`no midnight of ${wanted} in ${zone}`);
}
