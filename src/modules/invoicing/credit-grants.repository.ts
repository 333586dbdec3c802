import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import type { AppliedCredit } from '../../core/invoice';
import { Database } from '../../platform/database';
import { CreditGrantEntity } from './credit-grant.entity';
import type { CreditUse, StoredCreditGrant } from './domain/credit-grant';
import type { CoveredCredit } from './domain/given-back';
import { isInEffect } from './invoice-query';

/** Column of a payment's credit to which `takeAtOrigin` adds the amount that it takes from a credit note. */
export type OriginUse = 'lost' | 'refunded' | 'reserved';

type AmountOfCredit = OriginUse | 'remaining';

/** Checks the limits again, because another transaction may have changed the credit since the caller read it. */
const MOVE = `
  UPDATE credit_grant SET remaining = remaining - $2
  WHERE id = $1 AND remaining - $2 BETWEEN 0 AND amount - reserved - refunded - lost RETURNING id`;

const ADD = `
  INSERT INTO credit_grant
    (id, customer_id, currency, amount, remaining, reserved, refunded, lost, source_id, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  ON CONFLICT (source_id) DO UPDATE SET amount = credit_grant.amount + excluded.amount,
    remaining = credit_grant.remaining + excluded.remaining,
    reserved = credit_grant.reserved + excluded.reserved,
    refunded = credit_grant.refunded + excluded.refunded,
    lost = credit_grant.lost + excluded.lost`;

/**
 * Moves an amount between two columns of the credit from a source, and returns the amount.
 * @param amount SQL expression that may use the columns of the credit, and `$2`
 */
const MOVE_BETWEEN = (from: AmountOfCredit, to: AmountOfCredit, amount: string): string => `
  UPDATE credit_grant SET ${from} = credit_grant.${from} - moved.amount, ${to} = credit_grant.${to} + moved.amount
  FROM (SELECT id, ${amount} AS amount FROM credit_grant WHERE source_id = $1 FOR NO KEY UPDATE) moved
  WHERE credit_grant.id = moved.id
  RETURNING moved.amount::text AS amount`;

const TAKE_LOST = MOVE_BETWEEN('remaining', 'lost', 'greatest(least(remaining, $2), -lost)');
const TAKE_REFUNDED = MOVE_BETWEEN('remaining', 'refunded', 'least(remaining, $2)');
const RESERVE = MOVE_BETWEEN('remaining', 'reserved', 'least(remaining, $2)');
const TAKE_RESERVED = MOVE_BETWEEN('reserved', 'refunded', 'least(reserved, $2)');
const RETURN_REFUNDED = MOVE_BETWEEN('refunded', 'remaining', 'refunded - least(refunded, $2)');
const RELEASE_RESERVED = MOVE_BETWEEN('reserved', 'remaining', 'reserved - least(reserved, $2)');

const TAKE_AT_ORIGIN = (use: OriginUse): string => `
  WITH taken AS (
    SELECT id, least(remaining, $3) AS amount FROM credit_grant WHERE source_id = $1 FOR NO KEY UPDATE),
  given AS (
    UPDATE credit_grant SET amount = credit_grant.amount - taken.amount, remaining = remaining - taken.amount
    FROM taken WHERE credit_grant.id = taken.id),
  recorded AS (
    INSERT INTO credit_return (note_id, payment_id, invoice_id, amount)
    SELECT $1, $2, invoice_id, taken.amount FROM taken, credit_note
    WHERE credit_note.id = $1 AND taken.amount > 0
    ON CONFLICT (note_id, payment_id) DO UPDATE SET amount = credit_return.amount + excluded.amount)
  UPDATE credit_grant SET ${use} = ${use} + taken.amount FROM taken WHERE source_id = $2
  RETURNING taken.amount::text AS amount`;

const RETURNED = `
  SELECT source_id, (refunded + reserved)::text AS refunded, lost::text,
    (amount - remaining - reserved - refunded - lost)::text AS used
  FROM credit_grant WHERE source_id = ANY ($1)`;

const SOURCES = 'SELECT id, source_id AS "sourceId" FROM credit_grant WHERE id = ANY ($1)';

const USES = `
  SELECT invoice.id AS "invoiceId", source_id AS "sourceId",
    ((used #>> '{amountMinor,$bigint}')::bigint - returned.amount)::text AS amount
  FROM invoice, LATERAL jsonb_array_elements(invoice.credits) AS used
    JOIN credit_grant ON credit_grant.id = used ->> 'creditId',
    LATERAL (SELECT coalesce(sum(amount), 0) AS amount FROM credit_return
      WHERE credit_return.invoice_id = invoice.id AND payment_id = source_id) returned`;

const USES_BY_INVOICES = `${USES} WHERE invoice.id = ANY ($1)`;

const USES_OF_PAYMENTS = `${USES}
  WHERE source_id = ANY ($1) AND ${isInEffect('invoice')}
    AND invoice.customer_id = ANY (ARRAY(SELECT customer_id FROM credit_grant WHERE source_id = ANY ($1)))
  ORDER BY credit_grant.created_at, credit_grant.id, invoice.id`;

const BALANCE = `
  SELECT coalesce(sum(remaining + reserved), 0)::text AS balance,
    coalesce(sum(reserved), 0)::text AS reserved
  FROM credit_grant WHERE customer_id = $1 AND (remaining > 0 OR reserved > 0)`;

const USE_ALL = `
  UPDATE credit_grant SET remaining = remaining - used.amount
  FROM (SELECT id, sum(amount) AS amount FROM unnest($1::text[], $2::bigint[]) AS used (id, amount)
    GROUP BY id) used
  WHERE credit_grant.id = used.id AND remaining >= used.amount
  RETURNING credit_grant.id`;

@Injectable()
export class CreditGrantsRepository {
  constructor(private readonly database: Database) {}

  async insert(grant: StoredCreditGrant): Promise<void> {
    await this.database.insert(CreditGrantEntity, grant);
  }

  async insertAll(grants: readonly StoredCreditGrant[]): Promise<void> {
    await this.database.insertMany(CreditGrantEntity, grants);
  }

  /**
   * Returns the available credit of customers, oldest first for each customer.
   * @param lock true: locks the credit until the transaction ends
   */
  async open(customerIds: readonly string[], lock: boolean): Promise<readonly StoredCreditGrant[]> {
    const tail = `WHERE customer_id = ANY ($1) AND remaining > 0 ORDER BY customer_id, created_at, id${lock ? ' FOR NO KEY UPDATE' : ''}`;
    return this.database.select(CreditGrantEntity, tail, [customerIds]);
  }

  /** Adds `grant` to the stored credit from the same source, or stores it if the source has given no credit yet. */
  async add(grant: StoredCreditGrant): Promise<void> {
    this.database.requireTransaction();
    await this.database.queryPrepared('add-credit', ADD, [
      grant.id,
      grant.customerId,
      grant.currency,
      grant.amount.toString(),
      grant.remaining.toString(),
      grant.reserved.toString(),
      grant.refunded.toString(),
      grant.lost.toString(),
      grant.sourceId,
      grant.createdAt,
    ]);
  }

  /** Returns the credit from a source, locked until the transaction ends; null if the source gave none. */
  lockOf(sourceId: string): Promise<StoredCreditGrant | null> {
    return this.database.selectOne(CreditGrantEntity, 'WHERE source_id = $1 FOR NO KEY UPDATE', [
      sourceId,
    ]);
  }

  async sourcesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const rows = await this.database.query<{ id: string; sourceId: string }>(SOURCES, [ids]);
    return new Map(rows.map(({ id, sourceId }) => [id, sourceId]));
  }

  usesOf(invoiceIds: readonly string[]): Promise<readonly CreditUse[]> {
    return this.queryUses(USES_BY_INVOICES, invoiceIds);
  }

  /**
   * Returns the credit that finalized, non-void invoices used from these payments, less the amounts that
   * {@link takeAtOrigin} took from credit notes of these invoices. Sorts by credit and then by invoice, oldest first.
   */
  usesOfPayments(paymentIds: readonly string[]): Promise<readonly CreditUse[]> {
    return this.queryUses(USES_OF_PAYMENTS, paymentIds);
  }

  private async queryUses(sql: string, ids: readonly string[]): Promise<readonly CreditUse[]> {
    if (ids.length === 0) return [];
    const rows = await this.database.query<
      Omit<CreditUse, 'amountMinor'> & { readonly amount: string }
    >(sql, [ids]);
    return rows.map(({ amount, ...use }) => ({ ...use, amountMinor: BigInt(amount) }));
  }

  /**
   * Returns three parts of the credit from each source, by source id: paid out or reserved by refunds, taken by lost
   * disputes, and used by invoices.
   */
  async returnedOf(sourceIds: readonly string[]): Promise<ReadonlyMap<string, CoveredCredit>> {
    if (sourceIds.length === 0) return new Map();
    const rows = await this.database.query<
      Record<'source_id' | 'refunded' | 'lost' | 'used', string>
    >(RETURNED, [sourceIds]);
    return new Map(
      rows.map(({ source_id: id, refunded, lost, used }) => [
        id,
        { refundedMinor: BigInt(refunded), lostMinor: BigInt(lost), usedMinor: BigInt(used) },
      ]),
    );
  }

  /** Reserves up to `amount` of the credit from a source, such as a payment, for refunds. */
  async reserve(sourceId: string, amount: bigint): Promise<void> {
    await this.move(RESERVE, [sourceId], amount);
  }

  /** Moves up to `amount` from the reserved to the refunded credit from a source. Returns the amount moved. */
  async takeReserved(sourceId: string, amount: bigint): Promise<bigint> {
    return this.move(TAKE_RESERVED, [sourceId], amount);
  }

  /**
   * Moves up to `amount` from the available to the lost credit from a payment; a negative amount moves it back. Returns
   * the amount moved.
   * @param sourceId id of the payment
   */
  async takeLost(sourceId: string, amount: bigint): Promise<bigint> {
    return this.move(TAKE_LOST, [sourceId], amount);
  }

  /** Moves up to `amount` from the available to the refunded credit from a payment. Returns the amount moved. */
  async takeRefunded(sourceId: string, amount: bigint): Promise<bigint> {
    return this.move(TAKE_REFUNDED, [sourceId], amount);
  }

  /**
   * Takes up to `amount` of the unused credit from the credit note `sourceId`, and counts it as lost, refunded or
   * reserved credit of the payment `originId`. The credited invoice was paid with credit from this payment. Records the
   * amount for {@link usesOf}. Returns the amount taken.
   */
  async takeAtOrigin(
    sourceId: string,
    originId: string,
    use: OriginUse,
    amount: bigint,
  ): Promise<bigint> {
    return this.move(TAKE_AT_ORIGIN(use), [sourceId, originId], amount);
  }

  /**
   * Makes refunded credit available again, except for `stillRefunded`: the amount that other refunds paid out. Returns
   * the amount made available.
   */
  async returnRefunded(sourceId: string, stillRefunded: bigint): Promise<bigint> {
    return this.move(RETURN_REFUNDED, [sourceId], stillRefunded);
  }

  /**
   * Makes reserved credit available again, except for `stillPending`: the amount that other pending refunds reserve.
   */
  async releaseReserved(sourceId: string, stillPending: bigint): Promise<void> {
    await this.move(RELEASE_RESERVED, [sourceId], stillPending);
  }

  async balanceOf(
    customerId: string,
  ): Promise<{ readonly balanceMinor: bigint; readonly reservedMinor: bigint }> {
    const [row] = await this.database.query<{ balance: string; reserved: string }>(BALANCE, [
      customerId,
    ]);
    return { balanceMinor: BigInt(row?.balance ?? 0), reservedMinor: BigInt(row?.reserved ?? 0) };
  }

  async useAll(used: readonly AppliedCredit[]): Promise<void> {
    this.database.requireTransaction();
    if (used.length === 0) return;
    const rows = await this.database.query(USE_ALL, [
      used.map(({ creditId }) => creditId),
      used.map(({ amountMinor }) => amountMinor.toString()),
    ]);
    const credits = new Set(used.map(({ creditId }) => creditId));
    invariant(rows.length === credits.size, 'Each credit has at least the used amount left.');
  }

  /** Like {@link tryUse}, but throws an error where {@link tryUse} returns false. */
  async use(id: string, amount: bigint): Promise<void> {
    invariant(await this.tryUse(id, amount), `The credit ${id} does not have ${amount} left.`);
  }

  /**
   * Takes an amount from a credit; a negative amount returns used credit. Changes nothing and returns false if less
   * than the amount is available, or if invoices have used less than the amount to return.
   */
  async tryUse(id: string, amount: bigint): Promise<boolean> {
    this.database.requireTransaction();
    const rows = await this.database.query(MOVE, [id, amount.toString()]);
    return rows.length === 1;
  }

  private async move(sql: string, ids: readonly string[], amount: bigint): Promise<bigint> {
    this.database.requireTransaction();
    const moved = await this.database.queryValue<string>(sql, [...ids, amount.toString()]);
    return BigInt(moved ?? 0);
  }
}
