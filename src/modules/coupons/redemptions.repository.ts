import { Injectable } from '@nestjs/common';
import {
  Database,
  type ListOrder,
  ListQuery,
  onViolation,
  type Page,
  type PageRequest,
} from '../../platform/database';
import { CouponRedemptionEntity } from './coupon-redemption.entity';
import { CouponEntity } from './coupon.entity';
import { couponAlreadyRedeemed } from './coupons.errors';
import type { Coupon } from './domain/coupon';
import type { CouponRedemption, EndedSubscription, RedeemedTerms } from './domain/redemption';

/**
 * Adds 1 to `times_redeemed` of a coupon that can be redeemed. Checks the limits of the coupon again, because other
 * redemptions may have reached them since the caller read the coupon.
 */
const COUNT = `
  UPDATE coupon SET times_redeemed = times_redeemed + 1, version = version + 1,
    updated_at = greatest(updated_at, $3)
  WHERE id = $1 AND is_active AND (redeem_by IS NULL OR redeem_by >= $2)
    AND (max_redemptions IS NULL OR times_redeemed < max_redemptions)
  RETURNING id`;

const SUBTRACT = `
  WITH locked AS MATERIALIZED (
    SELECT id FROM coupon WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE coupon SET times_redeemed = times_redeemed - used.times, version = version + 1,
    updated_at = greatest(updated_at, $2)
  FROM locked JOIN (
    SELECT coupon_id, count(*)::int AS times FROM unnest($1::text[]) AS removed (coupon_id)
    GROUP BY coupon_id) used ON locked.id = used.coupon_id
  WHERE coupon.id = locked.id`;

/**
 * Sorts the last redeemed coupon first. Coupons apply in the order of `redeemed_at`. The order of ids may differ,
 * because ids contain the time of the creating process, and clocks of processes differ.
 */
const LAST_REDEEMED_FIRST: ListOrder = { column: 'redeemed_at', isAscending: false };

const REMOVE_OF = `
  DELETE FROM coupon_redemption WHERE customer_id = ANY ($1) RETURNING id, coupon_id AS "couponId"`;

const END_ALL = `
  UPDATE coupon_redemption SET ended_at = greatest(ended.at, redeemed_at)
  FROM unnest($1::text[], $2::timestamptz[]) AS ended (subscription_id, at)
  WHERE coupon_redemption.subscription_id = ended.subscription_id AND ended_at IS NULL`;

@Injectable()
export class RedemptionsRepository {
  constructor(private readonly database: Database) {}

  findCoupon(code: string): Promise<Coupon | null> {
    return this.database.selectOne(CouponEntity, 'WHERE code = $1', [code]);
  }

  /**
   * Counts a redemption of the coupon. Returns false and changes nothing if the coupon is inactive, expired or
   * exhausted.
   * @param now instant of the redemption, on the clock of the customer
   * @param updatedAt real time of the change; ignored if `updated_at` of the coupon is later
   */
  async count(couponId: string, now: Date, updatedAt: Date): Promise<boolean> {
    this.database.requireTransaction();
    return (await this.database.query(COUNT, [couponId, now, updatedAt])).length === 1;
  }

  /**
   * Deletes and returns the redemptions of customers. The caller must pass the coupons of the deleted redemptions to
   * {@link subtract}.
   */
  removeOf(
    customerIds: readonly string[],
  ): Promise<readonly Pick<CouponRedemption, 'id' | 'couponId'>[]> {
    this.database.requireTransaction();
    return this.database.query(REMOVE_OF, [customerIds]);
  }

  /**
   * Subtracts deleted redemptions from `times_redeemed` of their coupons.
   * @param couponIds one id per deleted redemption; ids may repeat
   * @param updatedAt as for {@link count}
   */
  async subtract(couponIds: readonly string[], updatedAt: Date): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(SUBTRACT, [couponIds, updatedAt]);
  }

  async insert(redemption: CouponRedemption, code: string): Promise<void> {
    await onViolation(
      this.database.insert(CouponRedemptionEntity, redemption),
      'coupon_redemption_subscription_unique',
      () => couponAlreadyRedeemed(code),
    );
  }

  async findOpen(subscriptionIds: readonly string[]): Promise<readonly RedeemedTerms[]> {
    if (subscriptionIds.length === 0) return [];
    const tail = 'WHERE subscription_id = ANY ($1) AND ended_at IS NULL ORDER BY id';
    return this.withCoupons(
      await this.database.select(CouponRedemptionEntity, tail, [subscriptionIds]),
    );
  }

  async findBySubscriptions(subscriptionIds: readonly string[]): Promise<readonly RedeemedTerms[]> {
    const tail = 'WHERE subscription_id = ANY ($1) ORDER BY id';
    return this.withCoupons(
      await this.database.select(CouponRedemptionEntity, tail, [subscriptionIds]),
    );
  }

  async findAll(ids: readonly string[]): Promise<readonly RedeemedTerms[]> {
    if (ids.length === 0) return [];
    const byId = 'WHERE id = ANY ($1) ORDER BY id';
    return this.withCoupons(await this.database.select(CouponRedemptionEntity, byId, [ids]));
  }

  /**
   * Returns redemptions with their coupons. Locks the redemptions in the order of their ids, until the transaction
   * ends.
   */
  async lockAll(ids: readonly string[]): Promise<readonly RedeemedTerms[]> {
    const tail = 'WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE';
    return this.withCoupons(await this.database.select(CouponRedemptionEntity, tail, [ids]));
  }

  pageByCoupon(couponId: string, request: PageRequest): Promise<Page<RedeemedTerms>> {
    const query = new ListQuery('coupon_redemption').where('coupon_id = $', couponId);
    return this.page(query, request);
  }

  pageBySubscription(subscriptionId: string, request: PageRequest): Promise<Page<RedeemedTerms>> {
    const query = new ListQuery('coupon_redemption', 'id', LAST_REDEEMED_FIRST);
    return this.page(query.where('subscription_id = $', subscriptionId), request);
  }

  private async page(query: ListQuery, request: PageRequest): Promise<Page<RedeemedTerms>> {
    const { items, next } = await query.page(this.database, CouponRedemptionEntity, request);
    return { items: await this.withCoupons(items), next };
  }

  async updateAll(redemptions: readonly CouponRedemption[]): Promise<void> {
    await this.database.updateMany(
      CouponRedemptionEntity,
      redemptions.map(
        ({
          id,
          remainingAmount,
          appliedAmount,
          correctionsAmount,
          endsAt,
          endedAt,
          removedAt,
        }) => ({
          id,
          remainingAmount,
          appliedAmount,
          correctionsAmount,
          endsAt,
          endedAt,
          removedAt,
        }),
      ),
    );
  }

  async endAll(ended: readonly EndedSubscription[]): Promise<void> {
    await this.database.query(END_ALL, [
      ended.map(({ id }) => id),
      ended.map(({ endedAt }) => endedAt),
    ]);
  }

  private async withCoupons(
    redemptions: readonly CouponRedemption[],
  ): Promise<readonly RedeemedTerms[]> {
    if (redemptions.length === 0) return [];
    const ids = [...new Set(redemptions.map(({ couponId }) => couponId))];
    const found = await this.database.select(CouponEntity, 'WHERE id = ANY ($1)', [ids]);
    const coupons = new Map(found.map((coupon) => [coupon.id, coupon]));
    return redemptions.flatMap((redemption) => {
      const coupon = coupons.get(redemption.couponId);
      return coupon === undefined ? [] : [{ redemption, coupon }];
    });
  }
}
