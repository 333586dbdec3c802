import { Injectable } from '@nestjs/common';
import { raise } from '../../platform/errors';
import { groupBy } from '../../core/grouping';
import { invariant } from '../../core/invariant';
import { changedAt } from '../../core/next-version';
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
  couponRedemptionNotFound,
} from './coupons.errors';
import { couponRedeemed, couponRemoved } from './coupons.events';
import { CouponsService } from './coupons.service';
import type { Coupon } from './domain/coupon';
import {
  type AppliedRedemption,
  type CouponRedemption,
  isUsedUp,
  type EndedSubscription,
  type InvoiceDiscount,
  redeemedAfter,
  redemptionOf,
  type RedeemedTerms,
  refusalOf,
  type RedemptionRequest,
  removed,
  withApplied,
  withoutInvoice,
} from './domain/redemption';
import { RedemptionsRepository } from './redemptions.repository';

/**
 * Redeems coupons on subscriptions and records their discounts. Methods that write run in the transaction of a caller,
 * which must have locked the subscription.
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
   * Redeems a coupon on a subscription, in the caller's transaction. A conditional update counts the redemption, and
   * locks the coupon until the caller commits. Concurrent redemptions therefore cannot exceed the limits of the coupon.
   * @param now time of the customer's clock
   * @throws {ProblemError} `coupon_code_unknown`, `coupon_inactive`, `coupon_expired`, `coupon_exhausted`,
   *   `coupon_not_for_plan`, `coupon_currency_mismatch`, `coupon_already_redeemed`
   */
  async redeem(request: RedemptionRequest, now: Date): Promise<RedeemedTerms> {
    this.database.requireTransaction();
    const { coupon, redemption } = await this.preview(request, now);
    if (!(await this.redemptions.count(coupon.id, now, this.clock.now()))) {
      const seen = await this.requireCoupon(request.code);
      throw refusal(refusalOf(seen, request, now) ?? 'exhausted', seen, request);
    }
    await this.redemptions.insert(redemption, coupon.code);
    const after = { redemption, coupon };
    await this.outbox.record(couponRedeemed, {
      after,
      occurredAt: eventTime(redemption.redeemedAt, now),
    });
    return after;
  }

  /**
   * Removes a coupon from its subscription, in the caller's transaction. Does nothing if the coupon is removed already.
   * The removed coupon discounts no new charges. If a credit returns a discount of the coupon, the discount cannot be
   * used again. Usage corrections still get the discount if the coupon discounted the corrected invoice.
   * @param now time of the customer's clock
   * @throws {ProblemError} `coupon_redemption_not_found`
   */
  async remove(subscriptionId: string, redemptionId: string, now: Date): Promise<void> {
    this.database.requireTransaction();
    const [before] = await this.redemptions.lockAll([redemptionId]);
    if (before?.redemption.subscriptionId !== subscriptionId)
      throw couponRedemptionNotFound(redemptionId);
    if (before.redemption.removedAt !== null) return;
    const redemption = removed(before.redemption, now);
    await this.redemptions.updateAll([redemption]);
    const change = { before, after: { ...before, redemption } };
    await this.outbox.record(couponRemoved, {
      ...change,
      occurredAt: eventTime(redemption.removedAt, now),
    });
  }

  /**
   * Returns the redemption that {@link redeem} would create. Writes nothing: the id of the returned redemption is not
   * stored.
   * @throws {ProblemError} the same as `redeem`
   */
  async preview(request: RedemptionRequest, now: Date): Promise<RedeemedTerms> {
    const coupon = await this.requireCoupon(request.code);
    const reason = refusalOf(coupon, request, now);
    const found = await this.redemptions.findBySubscriptions([request.subscriptionId]);
    const before = found.map(({ redemption }) => redemption);
    if (before.some(({ couponId }) => couponId === coupon.id))
      throw couponAlreadyRedeemed(coupon.code);
    if (reason !== null) throw refusal(reason, coupon, request);
    const redeemedAt = redeemedAfter(before, now);
    return { coupon, redemption: redemptionOf(newId('red'), coupon, request, redeemedAt) };
  }

  /**
   * Returns the redemptions whose `endedAt` is null, by subscription id, sorted by their own ids. Ignores `endsAt`, so
   * repeating coupons whose months are over are included. Ignores `redeemedAt`, because clocks of processes differ. A
   * redemption is before an invoice if it locked the subscription first.
   */
  async runningRedemptions(
    subscriptionIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly RedeemedTerms[]>> {
    const open = await this.redemptions.findOpen(subscriptionIds);
    return groupBy(open, ({ redemption }) => redemption.subscriptionId);
  }

  /**
   * Returns the redemptions that are neither used up nor removed, by subscription id, sorted by their own ids.
   * Includes redemptions that ended with their subscription.
   */
  async unusedRedemptions(
    subscriptionIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly RedeemedTerms[]>> {
    if (subscriptionIds.length === 0) return new Map();
    const found = await this.redemptions.findBySubscriptions(subscriptionIds);
    const unused = found.filter((terms) => !isUsedUp(terms) && terms.redemption.removedAt === null);
    return groupBy(unused, ({ redemption }) => redemption.subscriptionId);
  }

  /**
   * Returns the redemptions that are not used up, by id. Includes redemptions that ended for another reason, for
   * example with their subscription. Locks all given redemptions until the transaction ends.
   */
  async remainingTermsOf(
    redemptionIds: readonly string[],
  ): Promise<ReadonlyMap<string, RedeemedTerms>> {
    if (redemptionIds.length === 0) return new Map();
    const found = await this.redemptions.lockAll(redemptionIds);
    const left = found.filter((terms) => !isUsedUp(terms));
    return new Map(left.map((terms) => [terms.redemption.id, terms]));
  }

  /**
   * Records the discounts of invoices and ends used-up redemptions, in the transaction of the invoices. Returns the
   * changed redemptions.
   * @param applied at most one element per redemption
   */
  async recordApplied(
    applied: readonly AppliedRedemption[],
    now: Date,
  ): Promise<readonly CouponRedemption[]> {
    const used = applied.filter(
      ({ amountMinor, returnedMinor, unusableMinor }) =>
        amountMinor !== 0n || returnedMinor !== 0n || unusableMinor !== 0n,
    );
    if (used.length === 0) return [];
    const found = await this.redemptions.lockAll(used.map(({ redemptionId }) => redemptionId));
    const terms = new Map(found.map((one) => [one.redemption.id, one]));
    const after = used.map((one) => {
      const before = terms.get(one.redemptionId);
      invariant(before !== undefined, `The redemption ${one.redemptionId} exists.`);
      return withApplied(before, one, now);
    });
    await this.redemptions.updateAll(after);
    return after;
  }

  /**
   * Reverses the discounts of an invoice, in the transaction that voids the invoice.
   * @param discounts at most one element per redemption
   */
  async reverseDiscounts(discounts: readonly InvoiceDiscount[], now: Date): Promise<void> {
    const used = new Map(
      discounts
        .filter(
          ({ amountMinor, returnedMinor = 0n, unusableMinor = 0n }) =>
            amountMinor > 0n || returnedMinor > 0n || unusableMinor > 0n,
        )
        .map((one) => [one.redemptionId, one]),
    );
    if (used.size === 0) return;
    const found = await this.redemptions.lockAll([...used.keys()]);
    await this.redemptions.updateAll(
      found.flatMap((terms) => {
        const one = used.get(terms.redemption.id);
        return one === undefined ? [] : [withoutInvoice(terms, one, now)];
      }),
    );
  }

  /**
   * Returns the redemptions with the duration `once` that are used up and were not removed, by id. A credit may return
   * a discount to such a redemption.
   */
  async usedUpOf(redemptionIds: readonly string[]): Promise<ReadonlyMap<string, RedeemedTerms>> {
    const found = await this.redemptions.findAll(redemptionIds);
    const usedUp = found.filter((terms) => isUsedUp(terms) && terms.redemption.removedAt === null);
    return new Map(usedUp.map((terms) => [terms.redemption.id, terms]));
  }

  /** Returns redemptions by id, ended ones included. */
  async getAll(redemptionIds: readonly string[]): Promise<ReadonlyMap<string, RedeemedTerms>> {
    const found = await this.redemptions.findAll([...new Set(redemptionIds)]);
    return new Map(found.map((terms) => [terms.redemption.id, terms]));
  }

  /** Ends all running redemptions of ended subscriptions, each at the time at which its subscription ended. */
  async endAll(ended: readonly EndedSubscription[]): Promise<void> {
    this.database.requireTransaction();
    if (ended.length > 0) await this.redemptions.endAll(ended);
  }

  /** @throws {ProblemError} `coupon_not_found` */
  async list(couponId: string, request: PageRequest): Promise<Page<RedeemedTerms>> {
    await this.coupons.get(couponId);
    return this.redemptions.pageByCoupon(couponId, request);
  }

  listBySubscription(id: string, request: PageRequest): Promise<Page<RedeemedTerms>> {
    return this.redemptions.pageBySubscription(id, request);
  }

  private async requireCoupon(code: string): Promise<Coupon> {
    return (await this.redemptions.findCoupon(code)) ?? raise(couponCodeUnknown(code));
  }
}

/** Returns the time for an event about a redemption: `at`, or `now` if a wrong clock set `at` over a minute ahead. */
function eventTime(at: Date, now: Date): Date {
  return changedAt(now, { updatedAt: at });
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
