import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';

/**
 * Omits credit from other payments, because only refunds of those payments may pay it out. Locks the oldest credit
 * first, as the calculation of invoices does, to avoid deadlocks.
 */
const LOCK_AVAILABLE = `
  SELECT id, source_id = $1 AS "isOwn", remaining::text AS remaining FROM credit_grant
  WHERE source_id = $1
    OR customer_id = $2 AND currency = $3 AND remaining > 0 AND NOT starts_with(source_id, 'pay_')
  ORDER BY created_at, id FOR NO KEY UPDATE`;

/** Locks the oldest credit first, as the calculation of invoices does, to avoid deadlocks. */
const LOCK_RESERVED = `
  SELECT id FROM credit_grant
  WHERE source_id = $1 OR id = ANY (ARRAY(SELECT credit_id FROM credit_payout WHERE refund_id = $2))
  ORDER BY created_at, id FOR NO KEY UPDATE`;

const RESERVE = `
  WITH part AS (
    INSERT INTO credit_payout (refund_id, payment_id, credit_id, amount)
    SELECT $1, $2, * FROM unnest($3::text[], $4::bigint[]) RETURNING credit_id, amount)
  UPDATE credit_grant SET remaining = remaining - part.amount, reserved = reserved + part.amount
  FROM part WHERE id = part.credit_id`;

const REFUND = `
  WITH part AS (
    UPDATE credit_payout SET is_refunded = true WHERE refund_id = $1 RETURNING credit_id, amount),
  moved AS (
    UPDATE credit_grant SET reserved = reserved - part.amount, refunded = refunded + part.amount
    FROM part WHERE id = part.credit_id)
  SELECT coalesce(sum(amount), 0)::text AS amount FROM part`;

const RELEASE = `
  WITH part AS (DELETE FROM credit_payout WHERE refund_id = $1 RETURNING credit_id, amount, is_refunded),
  moved AS (
    UPDATE credit_grant SET remaining = remaining + part.amount,
      reserved = reserved - CASE WHEN is_refunded THEN 0 ELSE part.amount END,
      refunded = refunded - CASE WHEN is_refunded THEN part.amount ELSE 0 END
    FROM part WHERE id = part.credit_id)
  SELECT coalesce(sum(amount), 0)::text AS amount FROM part`;

const BY_PAYMENT = `
  SELECT payment_id AS "paymentId", coalesce(sum(amount) FILTER (WHERE NOT is_refunded), 0)::text AS reserved,
    coalesce(sum(amount) FILTER (WHERE is_refunded), 0)::text AS refunded
  FROM credit_payout WHERE payment_id = ANY ($1) GROUP BY payment_id`;

/** Amounts that refunds of one payment took from credit notes and negative invoices, in minor units. */
export interface PaidOut {
  /** Reserved by pending refunds. */
  readonly reserved: bigint;
  readonly refunded: bigint;
}

/** Available part of a credit, in minor units. */
export interface AvailableCredit {
  readonly id: string;
  readonly remaining: bigint;
}

export interface RefundedPayment {
  readonly id: string;
  readonly customerId: string;
  readonly currency: string;
}

/** Reserves credit from credit notes and negative invoices for refunds, and pays it out. */
@Injectable()
export class CreditPayoutsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Locks the credit from the payment `id`, and the available credit that the customer has from credit notes and
   * negative invoices. Returns only the credit from credit notes and negative invoices. A refund of any payment of the
   * customer can pay it out.
   */
  async lockAvailable({
    id,
    customerId,
    currency,
  }: RefundedPayment): Promise<readonly AvailableCredit[]> {
    this.database.requireTransaction();
    const rows = await this.database.query<{ id: string; isOwn: boolean; remaining: string }>(
      LOCK_AVAILABLE,
      [id, customerId, currency],
    );
    return rows
      .filter(({ isOwn }) => !isOwn)
      .map((row) => ({ id: row.id, remaining: BigInt(row.remaining) }));
  }

  /** Reserves parts of credits for a refund. The caller has locked the credits. */
  async reserve(
    refund: { readonly refundId: string; readonly paymentId: string },
    parts: readonly AvailableCredit[],
  ): Promise<void> {
    await this.database.query(RESERVE, [
      refund.refundId,
      refund.paymentId,
      parts.map(({ id }) => id),
      parts.map(({ remaining }) => remaining.toString()),
    ]);
  }

  /**
   * Counts the credit that a refund had reserved from credit notes and negative invoices as refunded, because the
   * refund succeeded. Returns the amount. Also locks the credit from the payment.
   */
  refund(refundId: string, paymentId: string): Promise<bigint> {
    return this.move(REFUND, refundId, paymentId);
  }

  /**
   * Releases the credit that a refund had taken from credit notes and negative invoices, because the refund failed or a
   * bank returned the money. Returns the released amount. Also locks the credit from the payment.
   */
  release(refundId: string, paymentId: string): Promise<bigint> {
    return this.move(RELEASE, refundId, paymentId);
  }

  /** Returns, by payment id, the amounts that refunds of the payment took from credit notes and negative invoices. */
  async byPayment(paymentIds: readonly string[]): Promise<ReadonlyMap<string, PaidOut>> {
    if (paymentIds.length === 0) return new Map();
    const rows = await this.database.query<Record<'paymentId' | 'reserved' | 'refunded', string>>(
      BY_PAYMENT,
      [paymentIds],
    );
    return new Map(
      rows.map(({ paymentId, reserved, refunded }) => [
        paymentId,
        { reserved: BigInt(reserved), refunded: BigInt(refunded) },
      ]),
    );
  }

  private async move(sql: string, refundId: string, paymentId: string): Promise<bigint> {
    this.database.requireTransaction();
    await this.database.query(LOCK_RESERVED, [paymentId, refundId]);
    return BigInt((await this.database.queryValue<string>(sql, [refundId])) ?? 0);
  }
}
