import { Injectable } from '@nestjs/common';
import type { AppliedCoupon } from '../../core/discount';
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
   * What counts for an invoice of the subscription, in the order of redemption.
   * @param at when the invoice falls due to be made; not the start of a period it bills in arrears
   */
  async runningRedemptions(subscriptionId: string, at: Date): Promise<readonly RedeemedTerms[]> {
    const open = await this.redemptions.findOpen([subscriptionId]);
    return open.filter(({ redemption }) => isRunning(redemption, at));
  }

  /** The same for many subscriptions in one query; those without any are left out. */
  async runningRedemptionsOf(
    subscriptionIds: readonly string[],
    at: Date,
  ): Promise<ReadonlyMap<string, readonly RedeemedTerms[]>> {
    const open = await this.redemptions.findOpen(subscriptionIds);
    const bySubscription = new Map<string, RedeemedTerms[]>();
    for (const terms of open) {
      if (!isRunning(terms.redemption, at)) continue;
      const { subscriptionId } = terms.redemption;
      bySubscription.set(subscriptionId, [...(bySubscription.get(subscriptionId) ?? []), terms]);
    }
    return bySubscription;
  }

  /**
   * Keeps what an invoice took off by a redemption, and ends it when it is used up, in the transaction of the invoice.
   * @param applied minor units taken off, and left for the next invoice (as `applyCoupons` gives them)
   */
  async noteApplied(
    redemptionId: string,
    applied: Pick<AppliedCoupon, 'amountMinor' | 'unusedMinor'>,
    now: Date,
  ): Promise<void> {
    const before = await this.require(redemptionId);
    const after = withApplied(before, applied, now);
    if (after !== before.redemption) await this.redemptions.update(after);
  }

  /** Ends a redemption: from now on it takes nothing off. One that ended stays as it is. */
  async end(redemptionId: string, now: Date): Promise<void> {
    const { redemption } = await this.require(redemptionId);
    if (redemption.endedAt === null) await this.redemptions.update({ ...redemption, endedAt: now });
  }

  /** Ends all that runs on a subscription. */
  async endAll(subscriptionId: string, now: Date): Promise<void> {
    this.database.requireTransaction();
    await this.redemptions.endAll(subscriptionId, now);
  }

  /**
   * The redemptions of a coupon, newest first.
   * @throws {ProblemError} `coupon_not_found`
   */
  async list(couponId: string, request: PageRequest): Promise<Page<RedeemedTerms>> {
    await this.coupons.get(couponId);
    return this.redemptions.page(couponId, request);
  }

  private async require(id: string): Promise<RedeemedTerms> {
    const found = await this.redemptions.lock(id);
    invariant(found !== null, `The redemption ${id} exists.`);
    return found;
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
