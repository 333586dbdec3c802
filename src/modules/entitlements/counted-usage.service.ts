import { Injectable } from '@nestjs/common';
import { compare, type Rational, ZERO } from '../../core/decimal';
import { earliest } from '../../core/time';
import { FOR_EVER } from '../../core/usage';
import type { EntitledCustomer } from './balances.repository';
import { ConsumptionsRepository } from './consumptions.repository';
import {
  type BalanceRecord,
  type BalanceRow,
  counterOf,
  toSourceView,
  windowOf,
} from './domain/customer-entitlement';
import { type UsageCounter, withUsed } from './domain/entitlement-balance';
import { type FormerAllowance, formerAllowances } from './domain/former-terms';
import { isSameWindow, type Recalculation } from './domain/recalculation';
import type { ResetWindow } from './domain/reset-window';
import { MeteredUsageService } from './metered-usage.service';
import type { CustomerAllowance } from './sources.service';

export interface RecalculationRequest {
  readonly customer: EntitledCustomer;
  readonly entitlement: BalanceRecord['entitlement'];
  readonly now: Date;
}

/** Access version of a balance whose recalculation was postponed when usage was stored (decision 239). */
const POSTPONED = 0;

/** Usage in a window up to the time `at`, exclusive. */
interface UsageBefore {
  readonly used: Rational;
  readonly at: Date;
}

/** `given`: the present allowance. `row`: the stored balance, with the former allowance. */
export interface UsageTerms {
  readonly given: CustomerAllowance;
  readonly row: BalanceRow;
  /**
   * Returns, by subscription id, until when the subscription gave the allowance that `row` stores. Reads the database
   * at most once.
   */
  readonly readEnds: () => Promise<ReadonlyMap<string, Date>>;
}

/**
 * Counts usage for the recalculation of a balance. The allowance that applied before a change covers the usage from
 * before the change.
 */
@Injectable()
export class CountedUsageService {
  constructor(
    private readonly usage: MeteredUsageService,
    private readonly consumptions: ConsumptionsRepository,
  ) {}

  /**
   * Returns the usage of the stored window. Usage up to the former allowance becomes plan usage (usage that
   * subscriptions cover), even if grants covered it before this allowance was raised. A lower allowance does not reduce
   * plan usage. If the recalculation was postponed, reads the usage from the meter. An ended subscription then covers
   * the usage from before its end.
   */
  async storedCounter(one: RecalculationRequest, terms: UsageTerms): Promise<UsageCounter> {
    const { customer, entitlement, now } = one;
    const { row } = terms;
    const counter = withUsed(counterOf(row), row.used, row.isEntitled ? row.allowance : ZERO);
    const { window } = counter;
    if (row.accessVersion !== POSTPONED || entitlement.meterId === null || window === null)
      return counter;
    const used = await this.usage.open(customer.id, entitlement.meterId, window);
    return this.withCovered(one, counter, { used, at: now }, terms);
  }

  /**
   * Returns the usage in a window that replaces another window. Counts only usage before `endAt`. Counts all usage if
   * `endAt` is null or the entitlement has no meter.
   */
  usageOfReplacement(
    one: RecalculationRequest,
    window: ResetWindow,
    endAt: Date | null,
  ): Promise<Rational> {
    const { customer, entitlement } = one;
    const { meterId } = entitlement;
    if (meterId === null)
      return this.consumptions.totalSince(
        { customerId: customer.id, entitlementId: entitlement.id },
        window.startAt,
      );
    if (endAt === null) return this.usage.open(customer.id, meterId, window);
    return this.usage.readUntil(customer.id, meterId, window, endAt);
  }

  /**
   * Returns the state of the recalculation, with the usage of its window up to an instant, read from the meter. Returns
   * the state unchanged if the entitlement has no meter, because the counter then always contains all usage.
   */
  async withUsageUntil(
    { customer, entitlement: { meterId } }: RecalculationRequest,
    state: Recalculation,
    at: Date,
  ): Promise<Recalculation> {
    const { counter } = state;
    const { window } = counter;
    if (meterId === null || window === null || window.startAt >= at) return state;
    const used = await this.usage.readUntil(customer.id, meterId, window, at);
    return { ...state, counter: { ...counter, used } };
  }

  /**
   * Returns the state of the recalculation, with all usage of its window. After an expiry or a reset, the counter
   * contains only the usage up to that time.
   */
  async withAllUsage(
    one: RecalculationRequest,
    state: Recalculation,
    start: Recalculation,
  ): Promise<Recalculation> {
    if (state.counter === start.counter) return state;
    return this.withUsageUntil(one, state, state.counter.window?.endAt ?? FOR_EVER);
  }

  /**
   * Returns the state of the recalculation, with the usage of its window up to an instant. If the window is not stored
   * yet, the allowances that applied at the time of the usage cover it.
   */
  async withCoveredUntil(
    one: RecalculationRequest,
    state: Recalculation,
    at: Date,
    terms: UsageTerms,
  ): Promise<Recalculation> {
    const { used } = (await this.withUsageUntil(one, state, at)).counter;
    return { ...state, counter: await this.withFormer(one, state.counter, { used, at }, terms) };
  }

  /**
   * Opens the usage window. Returns the state of the recalculation with the usage of this window. Without a meter,
   * returns the state unchanged.
   */
  async withUsageIn(
    one: RecalculationRequest,
    state: Recalculation,
    terms: UsageTerms,
  ): Promise<Recalculation> {
    const { customer, entitlement, now } = one;
    const { counter } = state;
    const { window } = counter;
    if (entitlement.meterId === null || window === null) return state;
    const used = await this.usage.open(customer.id, entitlement.meterId, window);
    if (compare(used, counter.used) === 0) return state;
    const former = await this.withFormer(one, counter, { used, at: now }, terms);
    return { ...state, counter: withUsed(former, used, terms.given.amount) };
  }

  /** Returns what the subscriptions of the stored balance allowed until now, in order of time. */
  async formerAllowances(
    { row, readEnds, given: { sources } }: UsageTerms,
    now: Date,
  ): Promise<readonly FormerAllowance[]> {
    return formerAllowances(row, await readEnds(), sources.map(toSourceView), now);
  }

  /**
   * Returns the usage counter with the given usage. If the window is not stored yet, the allowances that applied at the
   * time of the usage cover it. These allowances are read only if the usage exceeds the present allowance.
   */
  private async withFormer(
    one: RecalculationRequest,
    counter: UsageCounter,
    usage: UsageBefore,
    terms: UsageTerms,
  ): Promise<UsageCounter> {
    const { amount } = terms.given;
    const { window } = counter;
    const isStored = window === null || isSameWindow(windowOf(terms.row), window);
    return isStored || amount === null || compare(usage.used, amount) <= 0
      ? { ...counter, used: usage.used }
      : this.withCovered(one, counter, usage, terms);
  }

  /**
   * Returns the usage counter with the given usage. Each former allowance covers the usage from before the time at
   * which this allowance ended.
   */
  private async withCovered(
    { customer, entitlement: { meterId }, now }: RecalculationRequest,
    counter: UsageCounter,
    { used, at }: UsageBefore,
    terms: UsageTerms,
  ): Promise<UsageCounter> {
    const { window } = counter;
    if (meterId === null || window === null) return counter;
    const endAt = earliest([at, window.endAt]) ?? at;
    let covered = counter;
    for (const { until, allowance } of await this.formerAllowances(terms, now)) {
      if (until <= window.startAt) continue;
      if (until >= endAt) return withUsed(covered, used, allowance);
      const part = await this.usage.readUntil(customer.id, meterId, window, until);
      // Usage up to the former boundary is already counted.
      if (compare(part, counter.used) >= 0) covered = withUsed(covered, part, allowance);
    }
    return { ...covered, used };
  }
}
