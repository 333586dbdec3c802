import { Injectable } from '@nestjs/common';
import { add, compare, type Rational, ZERO } from '../../core/decimal';
import { changedAt, nextVersion } from '../../core/next-version';
import { earliest } from '../../core/time';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import {
  type BalanceRecord,
  type BalanceRow,
  grantToSourceView,
  toSourceView,
  windowOf,
  withNotified,
} from './domain/customer-entitlement';
import { allowanceAt } from './domain/former-terms';
import { balanceTime, type ResetWindow, type WindowRule } from './domain/reset-window';
import {
  carryInto,
  counterOfReplacement,
  endGrant,
  isReplacedBy,
  isSameSpan,
  isSameWindow,
  lastEndOf,
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
import { type EntitledCustomer, BalancesRepository } from './balances.repository';
import {
  CountedUsageService,
  type RecalculationRequest,
  type UsageTerms,
} from './counted-usage.service';
import { MeteredUsageService } from './metered-usage.service';
import { BalanceUsageService, withUsage } from './balance-usage.service';
import { type CustomerAllowance, SourcesService } from './sources.service';

interface FormerTerms {
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
    private readonly counted: CountedUsageService,
  ) {}

  /**
   * Recalculates one balance and stores the result, in the caller's transaction. Locks in this order: the customer, if
   * there is no balance yet; the usage stream of the meter; the balance.
   * @param readAt real time, or the time of the test clock of the customer
   * @throws {ProblemError} `customer_not_found` if the customer was meanwhile purged
   */
  async recalculate(
    customer: EntitledCustomer,
    entitlement: BalanceRecord['entitlement'],
    readAt: Date,
  ): Promise<BalanceRecord> {
    this.database.requireTransaction();
    // The versions are read before the data: if a concurrent commit changes both, the row is then outdated.
    const accessVersion = await this.balances.accessVersionOf(customer, entitlement.id);
    if (entitlement.meterId !== null) await this.usage.lockStream(customer.id, entitlement.meterId);
    const before = await this.balances.lock(customer, entitlement.id, newId('cent'), readAt);
    // Another transaction may have entered the next window while the caller waited for locks.
    const clockTime = changedAt(readAt, before);
    const rulesVersion = await this.features.rulesVersionOf(entitlement.id);
    const given = await this.sources.allowance(customer.id, entitlement.id, clockTime);
    const now = balanceTime(clockTime, windowOf(before), given.windowRule);
    const one = { customer, entitlement, now };
    const running = await this.grants.find(before);
    // The former allowance applied until now: a changed allowance takes effect at the first recalculation after the
    // change.
    const allowance = before.isEntitled ? before.allowance : ZERO;
    let ends: Promise<ReadonlyMap<string, Date>> | null = null;
    const readEnds = () => (ends ??= this.sources.endsOf(before, now));
    const terms = { given, row: before, readEnds };
    const counter = await this.counted.storedCounter(one, terms);
    const start = { counter, grants: running, ended: [] };
    const after =
      entitlement.type === 'metered'
        ? await this.advance(one, start, terms, {
            allowance,
            windowRule: await this.sources.formerRule(before, given, now),
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
    return this.write(one, before, { entitlement, row });
  }

  /**
   * Applies the expiries of grants and the ends of windows up to now, in order of time, as long as a grant is left.
   * Finally enters the window that contains now.
   */
  private async advance(
    one: RecalculationRequest,
    start: Recalculation,
    terms: UsageTerms,
    { allowance, windowRule }: FormerTerms,
  ): Promise<Recalculation> {
    const { now } = one;
    const { given } = terms;
    let state = start;
    for (
      let boundary = nextBoundary(state, now);
      boundary !== null && state.grants.length > 0;
      boundary = nextBoundary(state, now)
    ) {
      const { at } = boundary;
      if (boundary.kind === 'expiry') {
        const counted = await this.counted.withCoveredUntil(one, state, at, terms);
        const applied = allowanceAt(await this.counted.formerAllowances(terms, now), at);
        state = endGrant(counted, applied, boundary.grantId, { end: 'expired', at });
      } else {
        const counted = await this.counted.withUsageUntil(one, state, at);
        const rule = at < now ? windowRule : given.windowRule;
        const window = windowFor(rule, counted.counter.window, at);
        state = await this.replaceWindow(one, counted, given, { allowance, window, endAt: at });
      }
    }
    const isNothingLeft = given.windowRule === null && state.grants.length === 0;
    if (isNothingLeft || !terms.row.isEntitled) {
      state = await this.withoutUnneeded(one, state, start, terms);
      if (isNothingLeft && state.counter.window === null) return state;
    }
    if (windowRule !== given.windowRule) state = withoutEnded(state, windowRule, now);
    const { window } = state.counter;
    const target = windowFor(given.windowRule, window, now);
    if (isSameWindow(window, target)) {
      state = { ...state, counter: { ...state.counter, window: target } };
    } else {
      state = await this.counted.withAllUsage(one, state, start);
      const replacement = { allowance, window: target, endAt: null };
      state = await this.replaceWindow(one, state, given, replacement);
    }
    return this.counted.withUsageIn(one, state, terms);
  }

  /** Drops an ended or unused window of a customer who has lost the entitlement, or did not have it until now. */
  private async withoutUnneeded(
    one: RecalculationRequest,
    state: Recalculation,
    start: Recalculation,
    { readEnds }: UsageTerms,
  ): Promise<Recalculation> {
    const { now } = one;
    const lastEnd = lastEndOf(await readEnds(), state.ended);
    const { window: current, expiredGrantUsage } = state.counter;
    const isEnded = current !== null && current.endAt !== null && current.endAt <= now;
    // In these cases, the result does not depend on the usage of the meter.
    if (current === null || isEnded || compare(expiredGrantUsage, ZERO) > 0)
      return dropUnneededWindow(state, now, lastEnd);
    // Usage after the last end does not keep the window, even if this end is processed late.
    const isOver = lastEnd !== null && (lastEnd < now || current.startAt >= lastEnd);
    const counted = isOver
      ? await this.counted.withUsageUntil(one, state, lastEnd)
      : await this.counted.withAllUsage(one, state, start);
    const dropped = dropUnneededWindow(counted, now, lastEnd);
    return dropped === counted ? state : dropped;
  }

  /**
   * Replaces the current window by `next.window`. If the two windows overlap, the new window counts all usage since its
   * own start. Usage that the plan covered in the current window stays plan usage. Usage taken from grants is not taken
   * from them again.
   */
  private async replaceWindow(
    one: RecalculationRequest,
    former: Recalculation,
    given: CustomerAllowance,
    next: {
      readonly window: ResetWindow;
      /** Only usage before this instant counts in the new window; null: all usage counts. */
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
    const used = await this.counted.usageOfReplacement(one, window, next.endAt);
    const earlierEnd = current?.startAt ?? coveredUntil;
    const earlier =
      earlierEnd !== null && window.startAt < earlierEnd
        ? await this.counted.usageOfReplacement(one, window, earlierEnd)
        : ZERO;
    const counted = { window, used, earlier, allowance: given.amount };
    return { ...state, counter: counterOfReplacement(former, allowance, counted) };
  }

  /**
   * Stores a recalculated balance. If the entitlement has a meter and the window changed, closes the former usage
   * window. If the window or its usage changed, records an event for each newly reached threshold. These events may be
   * missing, because a commit that stores usage and postpones the recalculation does not record them.
   */
  private async write(
    { customer, entitlement: { meterId }, now }: RecalculationRequest,
    before: BalanceRow,
    record: BalanceRecord,
  ): Promise<BalanceRecord> {
    const [former, current] = [windowOf(before), windowOf(record.row)];
    const isSame = isSameSpan(former, current);
    const { used } = record.row;
    const isCounted =
      meterId !== null && current !== null && !(isSame && compare(before.used, used) === 0);
    const reached = isCounted ? withUsage({ record, used, now }) : { record, percents: [], now };
    await this.balances.update(reached.record.row);
    if (meterId !== null && !isSame) {
      if (former !== null) await this.usage.close(customer.id, meterId, former);
      // If the window was already open for another balance, opening it again did not invalidate the cached state of the
      // stream.
      if (current !== null) await this.usage.invalidateStream(customer.id, meterId);
    }
    await this.balanceUsage.recordReached([reached]);
    return reached.record;
  }
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
  const { grants } = after;
  const { window, ...counted } = after.counter;
  const isEntitled = given.sources.length > 0 || grants.length > 0;
  const windowEndAt = window?.endAt ?? null;
  const ends = [given.until, ...grants.map(({ expiresAt }) => expiresAt)];
  // The renewal of the subscription opens the next window of a billing period. At all other boundaries, background work
  // recalculates the balance if the entitlement has a meter or the customer has grants.
  const isOpenedByRenewal = given.windowRule !== null && window?.reset === 'period';
  const isDue = isEntitled && (entitlement.meterId !== null || grants.length > 0);
  const changed = nextVersion(before, now, {
    validUntil: earliest([windowEndAt, ...ends]),
    isEntitled,
    allowance: given.amount,
    granted: grants.reduce((total, { balance }) => add(total, balance ?? ZERO), ZERO),
    isOverageAllowed: given.isOverageAllowed,
    reset: window?.reset ?? null,
    windowStartAt: window?.startAt ?? null,
    windowEndAt,
    ...counted,
    sources: [...given.sources.map(toSourceView), ...grants.map(grantToSourceView)],
    dueAt: isDue ? earliest([isOpenedByRenewal ? null : windowEndAt, ...ends]) : null,
    leaseEndsAt: null,
  });
  // An `updatedAt` after `now` was written by a wrong clock.
  return { ...changed, updatedAt: now };
}
