import { Injectable } from '@nestjs/common';
import { add, compare, type Rational, ZERO } from '../../core/decimal';
import { FOR_EVER } from '../../core/usage';
import { nextVersion } from '../../core/next-version';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { earliest } from './domain/access';
import {
  counterOf,
  type BalanceRecord,
  type BalanceRow,
  grantToSourceView,
  toSourceView,
  windowOf,
  withNotified,
} from './domain/customer-entitlement';
import { withUsed } from './domain/entitlement-balance';
import { balanceTime, type ResetWindow, type WindowRule } from './domain/reset-window';
import {
  type BalanceBoundary,
  carryInto,
  counterOfReplacement,
  endGrant,
  isReplacedBy,
  isSameSpan,
  isSameWindow,
  nextBoundary,
  reset,
  type Recalculation,
  windowFor,
  withoutEnded,
  withoutExpired,
  dropUnneededWindow,
} from './domain/recalculation';
import { FeaturesService } from '../features';
import { RunningGrantsService } from './running-grants.service';
import { type BalanceKey, type EntitledCustomer, BalancesRepository } from './balances.repository';
import { ConsumptionsRepository } from './consumptions.repository';
import { MeteredUsageService } from './metered-usage.service';
import { BalanceUsageService } from './balance-usage.service';
import { type CustomerAllowance, SourcesService } from './sources.service';

interface RecalculationRequest {
  readonly customer: EntitledCustomer;
  readonly entitlement: BalanceRecord['entitlement'];
  readonly now: Date;
}

/** Access version of a balance whose recalculation was postponed by a commit of usage (decision 239). */
const POSTPONED = 0;

interface FormerTerms {
  readonly row: BalanceRow;
  readonly allowance: Rational | null;
  readonly windowRule: WindowRule | null;
}

/** Recalculates balances: works out the allowance from the subscriptions, and brings usage and grants up to date. */
@Injectable()
export class RecalculateBalanceService {
  constructor(
    private readonly database: Database,
    private readonly balances: BalancesRepository,
    private readonly features: FeaturesService,
    private readonly grants: RunningGrantsService,
    private readonly sources: SourcesService,
    private readonly usage: MeteredUsageService,
    private readonly balanceUsage: BalanceUsageService,
    private readonly consumptions: ConsumptionsRepository,
  ) {}

  /**
   * Recalculates one balance and stores the result, in the caller's transaction. Locks in this order: the customer, if
   * there is no balance yet; the usage stream of the meter; the balance.
   * @param clockTime real time, or the time of the test clock of the customer
   * @throws {ProblemError} `customer_not_found` if the customer was meanwhile purged
   */
  async recalculate(
    customer: EntitledCustomer,
    entitlement: BalanceRecord['entitlement'],
    clockTime: Date,
  ): Promise<BalanceRecord> {
    this.database.requireTransaction();
    // The versions are read before the data: if a concurrent commit changes both, the row is then outdated.
    const accessVersion = await this.balances.accessVersionOf(customer, entitlement.id);
    if (entitlement.meterId !== null) await this.usage.lockStream(customer.id, entitlement.meterId);
    const before = await this.balances.lock(customer, entitlement.id, newId('cent'), clockTime);
    const rulesVersion = await this.features.rulesVersionOf(entitlement.id);
    const given = await this.sources.allowance(customer.id, entitlement.id, clockTime);
    const now = balanceTime(clockTime, windowOf(before), given.windowRule);
    const one = { customer, entitlement, now };
    const running = await this.grants.find(before);
    // The former allowance applied until now: a changed allowance takes effect at the first recalculation after the
    // change.
    const allowance = before.isEntitled ? before.allowance : ZERO;
    // All usage up to the former allowance becomes plan usage, even if it was taken from grants before that allowance
    // was raised. It stays plan usage when the allowance shrinks.
    const counter = withUsed(counterOf(before), await this.usedBefore(one, before), allowance);
    const start = { counter, grants: running, ended: [] };
    const after =
      entitlement.type === 'metered'
        ? await this.advance(one, start, given, {
            row: before,
            allowance,
            windowRule: await this.sources.formerRule(before, given.windowRule, now),
          })
        : withoutExpired(start, now);
    await this.grants.write({ entitlement, row: before }, running, after, now);
    const row = withNotified(
      {
        entitlement,
        row: rowOf({ ...before, accessVersion, rulesVersion }, { entitlement, given, after }, now),
      },
      before,
    );
    await this.balances.update(row);
    return this.enterWindow(one, before, row);
  }

  /** Returns the usage of the stored window. If the recalculation was postponed, it is read from the meter. */
  private async usedBefore(
    { customer, entitlement: { meterId } }: RecalculationRequest,
    before: BalanceRow,
  ): Promise<Rational> {
    const window = windowOf(before);
    if (before.accessVersion !== POSTPONED || meterId === null || window === null)
      return before.used;
    return this.usage.open(customer.id, meterId, window);
  }

  /**
   * Applies each expiry of a grant and each end of a window up to now, in order of time. Stops early when no grant is
   * left. Then enters the window that contains now.
   */
  private async advance(
    one: RecalculationRequest,
    start: Recalculation,
    given: CustomerAllowance,
    former: FormerTerms,
  ): Promise<Recalculation> {
    const { now } = one;
    const { allowance, windowRule } = former;
    const { isEntitled } = former.row;
    let state = start;
    for (
      let boundary = nextBoundary(state, now);
      boundary !== null && state.grants.length > 0;
      boundary = nextBoundary(state, now)
    ) {
      state = await this.withUsageUntil(one, state, boundary);
      state =
        boundary.kind === 'expiry'
          ? endGrant(state, allowance, boundary.grantId, { end: 'expired', at: boundary.at })
          : await this.replaceWindow(one, state, given, {
              allowance,
              window: windowFor(
                boundary.at < now ? windowRule : given.windowRule,
                state.counter.window,
                boundary.at,
              ),
              endAt: boundary.at,
            });
    }
    const isNothingLeft = given.windowRule === null && state.grants.length === 0;
    if (isNothingLeft || !isEntitled) {
      const counted = await this.withAllUsage(one, state, start);
      const dropped = dropUnneededWindow(counted, now, isEntitled);
      if (dropped !== counted) state = dropped;
      if (isNothingLeft && state.counter.window === null) return state;
    }
    if (windowRule !== given.windowRule) state = withoutEnded(state, windowRule, now);
    const { window } = state.counter;
    const target = windowFor(given.windowRule, window, now);
    if (isSameWindow(window, target)) {
      state = { ...state, counter: { ...state.counter, window: target } };
    } else {
      state = await this.withAllUsage(one, state, start);
      const replacement = { allowance, window: target, endAt: null };
      state = await this.replaceWindow(one, state, given, replacement);
    }
    return this.withUsageIn(one, state, given.amount, former);
  }

  /**
   * Replaces the current window by `next.window`. If they overlap, the new window counts all usage since its own start.
   * Usage that the plan covered in the current window stays plan usage. Usage taken from grants is not taken from them
   * again.
   */
  private async replaceWindow(
    one: RecalculationRequest,
    former: Recalculation,
    given: CustomerAllowance,
    next: {
      readonly window: ResetWindow;
      /** Instant before which usage counts in the new window; null: all usage counts. */
      readonly endAt: Date | null;
      /** Allowance of the former window. */
      readonly allowance: Rational | null;
    },
  ): Promise<Recalculation> {
    const { window, allowance } = next;
    const { window: current, coveredUntil } = former.counter;
    const isEndless = (current?.endAt ?? null) === null;
    const state = isEndless
      ? carryInto(former, allowance, window)
      : reset(former, allowance, window, next.endAt ?? one.now);
    if (!isReplacedBy(former.counter, window)) return state;
    const used = await this.usageOfReplacement(one, window, next.endAt);
    const earlierEnd = current?.startAt ?? coveredUntil;
    const earlier =
      earlierEnd !== null && window.startAt < earlierEnd
        ? await this.usageOfReplacement(one, window, earlierEnd)
        : ZERO;
    const counted = { window, used, earlier, allowance: given.amount };
    return { ...state, counter: counterOfReplacement(former, allowance, counted) };
  }

  /**
   * Returns the usage of a window that replaces another one. Counts only usage before `endAt`, or all usage if `endAt`
   * is null or the entitlement has no meter.
   */
  private usageOfReplacement(
    one: RecalculationRequest,
    window: ResetWindow,
    endAt: Date | null,
  ): Promise<Rational> {
    const { customer, entitlement } = one;
    const { meterId } = entitlement;
    if (meterId === null) return this.consumptions.totalSince(keyOf(one), window.startAt);
    if (endAt === null) return this.usage.open(customer.id, meterId, window);
    return this.usage.readUntil(customer.id, meterId, window, endAt);
  }

  /**
   * Returns the state with the usage of its window up to an instant, read from the meter. Returns the state unchanged
   * if the entitlement has no meter, because its counter always contains all usage.
   */
  private async withUsageUntil(
    { customer, entitlement: { meterId } }: RecalculationRequest,
    state: Recalculation,
    { at }: Pick<BalanceBoundary, 'at'>,
  ): Promise<Recalculation> {
    const { counter } = state;
    const { window } = counter;
    if (meterId === null || window === null || window.startAt >= at) return state;
    const used = await this.usage.readUntil(customer.id, meterId, window, at);
    return { ...state, counter: { ...counter, used } };
  }

  /** Returns the state with all usage of its window. After a boundary, the counter lacks the usage since then. */
  private async withAllUsage(
    one: RecalculationRequest,
    state: Recalculation,
    start: Recalculation,
  ): Promise<Recalculation> {
    if (state.counter === start.counter) return state;
    return this.withUsageUntil(one, state, { at: state.counter.window?.endAt ?? FOR_EVER });
  }

  /**
   * Opens the usage window and returns the state with its usage. Without a meter, returns the state unchanged. The
   * former allowance first covers the usage of a window that was not open while it applied.
   */
  private async withUsageIn(
    { customer, entitlement: { meterId }, now }: RecalculationRequest,
    state: Recalculation,
    amount: Rational | null,
    { row, allowance }: FormerTerms,
  ): Promise<Recalculation> {
    const { counter } = state;
    const { window } = counter;
    if (meterId === null || window === null) return state;
    const used = await this.usage.open(customer.id, meterId, window);
    if (compare(used, counter.used) === 0) return state;
    const isCovered =
      amount !== null &&
      compare(used, amount) > 0 &&
      !isSameWindow(windowOf(row), window) &&
      window.startAt < (await this.sources.appliedUntil(row, now));
    const covered = isCovered ? withUsed(counter, used, allowance) : counter;
    return { ...state, counter: withUsed(covered, used, amount) };
  }

  /**
   * If the entitlement has a meter and the window changed, closes the former usage window. If the window or its usage
   * changed, records an event for each threshold that usage has newly reached: a commit of usage may have postponed
   * the recalculation.
   */
  private async enterWindow(
    { customer, entitlement, now }: RecalculationRequest,
    before: BalanceRow,
    row: BalanceRow,
  ): Promise<BalanceRecord> {
    const record = { entitlement, row };
    const { meterId } = entitlement;
    const [former, current] = [windowOf(before), windowOf(row)];
    const isSame = isSameSpan(former, current);
    if (meterId === null || (isSame && compare(before.used, row.used) === 0)) return record;
    if (!isSame && former !== null) await this.usage.close(customer.id, meterId, former);
    if (current === null) return record;
    // If the window was already open for another balance, opening it again did not invalidate the cached state of the
    // stream.
    if (!isSame) await this.usage.invalidateStream(customer.id, meterId);
    const [after] = await this.balanceUsage.write([{ record, used: row.used, now }]);
    return after ?? record;
  }
}

function keyOf({ customer, entitlement }: RecalculationRequest): BalanceKey {
  return { customerId: customer.id, entitlementId: entitlement.id };
}

function rowOf(
  before: BalanceRow,
  found: {
    readonly entitlement: BalanceRecord['entitlement'];
    readonly given: CustomerAllowance;
    readonly after: Recalculation;
  },
  now: Date,
): BalanceRow {
  const { entitlement, given, after } = found;
  const { counter, grants } = after;
  const isEntitled = given.sources.length > 0 || grants.length > 0;
  const windowEndAt = counter.window?.endAt ?? null;
  const ends = [given.until, ...grants.map(({ expiresAt }) => expiresAt)];
  // The renewal of the subscription opens the next window of a billing period. At all other boundaries, background work
  // recalculates the balance if the entitlement has a meter or the customer has grants.
  const isOpenedByRenewal = given.windowRule !== null && counter.window?.reset === 'period';
  const isDue = isEntitled && (entitlement.meterId !== null || grants.length > 0);
  return nextVersion(before, now, {
    validUntil: earliest([windowEndAt, ...ends]),
    isEntitled,
    allowance: given.amount,
    granted: grants.reduce((total, { balance }) => add(total, balance ?? ZERO), ZERO),
    isOverageAllowed: given.isOverageAllowed,
    reset: counter.window?.reset ?? null,
    windowStartAt: counter.window?.startAt ?? null,
    windowEndAt,
    coveredUntil: counter.coveredUntil,
    used: counter.used,
    expiredGrantUsage: counter.expiredGrantUsage,
    planUsage: counter.planUsage,
    notifiedThresholds: counter.notifiedThresholds,
    sources: [...given.sources.map(toSourceView), ...grants.map(grantToSourceView)],
    dueAt: isDue ? earliest([isOpenedByRenewal ? null : windowEndAt, ...ends]) : null,
    leaseEndsAt: null,
  });
}
