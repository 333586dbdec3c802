import { Injectable } from '@nestjs/common';
import type { AppliedCoupon } from '../../core/discount';
import { groupBy } from '../../core/grouping';
import { invariant } from '../../core/invariant';
import { Clock } from '../../platform/clock';
import { Database, type Page, type PageRequest } from '../../platform/database';
import type { ProblemError } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import {
  couponAlreadyRedeemed,
  couponCodeUnknown,
  couponCurrencyMismatch,
  couponExhausted,
  couponExpired,
  couponInactive,
  couponNotForPlan,
} from './coupons.errors';
import { couponRedeemed } from './coupons.events';
import { CouponsService } from './coupons.service';
import type { Coupon } from './domain/coupon';
import {
  isRunning,
  isUsedUp,
  redemptionOf,
  type RedeemedTerms,
  refusalOf,
  type RedemptionRequest,
  withApplied,
} from './domain/redemption';
import { RedemptionsRepository } from './redemptions.repository';

/**
 * Gives coupons to subscriptions and keeps what is left of them. Every method that writes joins the transaction of its
 * caller, who holds the lock of the subscription.
 */
@Injectable()
export class RedemptionsService {
  constructor(
    private readonly database: Database,
    private readonly redemptions: RedemptionsRepository,
    private readonly coupons: CouponsService,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * Redeems a coupon on a subscription, in the caller's transaction. The limits of the coupon hold however many redeem it
   * at once: it is counted by a conditional update, whose row lock lasts until the caller commits.
   * @param now on the customer's clock
   * @throws {ProblemError} `coupon_code_unknown`, `coupon_inactive`, `coupon_expired`, `coupon_exhausted`,
   *   `coupon_not_for_plan`, `coupon_currency_mismatch`, `coupon_already_redeemed`
   */
  async redeem(request: RedemptionRequest, now: Date): Promise<RedeemedTerms> {
    this.database.requireTransaction();
    const { coupon } = await this.preview(request, now);
    if (!(await this.redemptions.count(coupon.id, now, this.clock.now()))) {
      const seen = await this.requireCoupon(request.code);
      throw refusal(refusalOf(seen, request, now) ?? 'exhausted', seen, request);
    }
    const redemption = redemptionOf(newId('red'), coupon, request, now);
    await this.redemptions.insert(redemption, coupon.code);
    await this.outbox.record(couponRedeemed, { after: { redemption, coupon }, occurredAt: now });
    return { redemption, coupon };
  }

  /**
   * The redemption that `redeem` would make, without making it: its id names nothing.
   * @throws {ProblemError} as `redeem`
   */
  async preview(request: RedemptionRequest, now: Date): Promise<RedeemedTerms> {
    const coupon = await this.requireCoupon(request.code);
    const reason = refusalOf(coupon, request, now);
    if (await this.redemptions.exists(coupon.id, request.subscriptionId)) {
      throw couponAlreadyRedeemed(coupon.code);
    }
    if (reason !== null) throw refusal(reason, coupon, request);
    return { coupon, redemption: redemptionOf(newId('red'), coupon, request, now) };
  }

  /**
   * What counts for invoices of subscriptions, by subscription, each in the order of redemption; those without any are
   * left out.
   * @param at when the invoices fall due to be made; not the start of a period they bill in arrears
   */
  async runningRedemptions(
    subscriptionIds: readonly string[],
    at: Date,
  ): Promise<ReadonlyMap<string, readonly RedeemedTerms[]>> {
    const open = await this.redemptions.findOpen(subscriptionIds);
    const running = open.filter(({ redemption }) => isRunning(redemption, at));
    return groupBy(running, ({ redemption }) => redemption.subscriptionId);
  }

  /**
   * Those of these redemptions of which something is left, by id, locked until the caller's transaction ends; whether they
   * have ended since is not asked.
   */
  async leftOf(redemptionIds: readonly string[]): Promise<ReadonlyMap<string, RedeemedTerms>> {
    if (redemptionIds.length === 0) return new Map();
    const found = await this.redemptions.lockAll(redemptionIds);
    const left = found.filter((terms) => !isUsedUp(terms));
    return new Map(left.map((terms) => [terms.redemption.id, terms]));
  }

  /**
   * Keeps what invoices took off by redemptions, and ends those that are used up, in the transaction of the invoices.
   * @param applied minor units taken off, and left for the next invoice (as `applyCoupons` gives them); each redemption once
   */
  async noteApplied(
    applied: readonly Pick<AppliedCoupon, 'redemptionId' | 'amountMinor' | 'unusedMinor'>[],
    now: Date,
  ): Promise<void> {
    const used = applied.filter(({ amountMinor }) => amountMinor !== 0n);
    if (used.length === 0) return;
    const found = await this.redemptions.lockAll(used.map(({ redemptionId }) => redemptionId));
    const terms = new Map(found.map((one) => [one.redemption.id, one]));
    const after = used.map((one) => {
      const before = terms.get(one.redemptionId);
      invariant(before !== undefined, `The redemption ${one.redemptionId} exists.`);
      return withApplied(before, one, now);
    });
    await this.redemptions.updateAll(after);
  }

  /** Ends a redemption: from now on it takes nothing off. One that ended stays as it is. */
  async end(redemptionId: string, now: Date): Promise<void> {
    const [found] = await this.redemptions.lockAll([redemptionId]);
    invariant(found !== undefined, `The redemption ${redemptionId} exists.`);
    const { redemption } = found;
    if (redemption.endedAt !== null) return;
    await this.redemptions.updateAll([{ ...redemption, endedAt: now }]);
  }

  /** Ends all that runs on subscriptions. */
  async endAll(subscriptionIds: readonly string[], now: Date): Promise<void> {
    this.database.requireTransaction();
    if (subscriptionIds.length > 0) await this.redemptions.endAll(subscriptionIds, now);
  }

  /**
   * The redemptions of a coupon, newest first.
   * @throws {ProblemError} `coupon_not_found`
   */
  async list(couponId: string, request: PageRequest): Promise<Page<RedeemedTerms>> {
    await this.coupons.get(couponId);
    return this.redemptions.page(couponId, request);
  }

  private async requireCoupon(code: string): Promise<Coupon> {
    const coupon = await this.redemptions.findCoupon(code);
    if (coupon === null) throw couponCodeUnknown(code);
    return coupon;
  }
}

function refusal(
  reason: NonNullable<ReturnType<typeof refusalOf>>,
  coupon: Coupon,
  { currency }: RedemptionRequest,
): ProblemError {
  switch (reason) {
    case 'inactive':
      return couponInactive(coupon.code);
    case 'expired':
      return couponExpired(coupon.code);
    case 'exhausted':
      return couponExhausted(coupon.code);
    case 'not_for_plan':
      return couponNotForPlan(coupon.code);
    case 'currency_mismatch':
      return couponCurrencyMismatch(coupon.code, currency);
  }
}
