import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { invariant } from '../../core/invariant';
import type { Rational } from '../../core/decimal';
import { Database, violatedConstraint } from '../../platform/database';
import { CustomerAccessEntity } from './customer-access.entity';
import { CustomerEntitlementEntity } from './customer-entitlement.entity';
import { toNumeric } from './decimal-column';
import { type Glimpse, type Held, type HoldingRow, windowOf } from './domain/customer-entitlement';
import type { ResetWindow } from './domain/reset-window';
import { EntitlementConsumptionEntity } from './entitlement-consumption.entity';
import { EntitlementGraceEntity } from './entitlement-grace.entity';
import { entitlementKeyNotFound } from './entitlements.errors';
import {
  GLIMPSE_COLUMNS,
  type GlimpseRow,
  HOLDING_COLUMNS,
  type HeldRow,
  toGlimpse,
  toHeld,
} from './held-row';

/** A customer, as far as what it has is concerned. */
export interface AccessHolder {
  readonly id: string;
  readonly testClockId: string | null;
}

/** A customer and an entitlement. */
export interface Pair {
  readonly customerId: string;
  readonly entitlementId: string;
}

interface KeptAnswer {
  readonly idempotencyKey: string;
  readonly quantity: Rational;
  readonly answer: object;
}

/** What was resolved after the last commit that may have changed it: three rows by their keys. */
const FRESH_ROWS = `
  FROM entitlement e
  JOIN customer_access a ON a.customer_id = $1
  JOIN customer_entitlement h ON h.customer_id = a.customer_id AND h.entitlement_id = e.id
    AND h.access_version = a.version AND h.rules_version = e.rules_version
  WHERE e.key = $2`;

const FRESH = `SELECT e.key, e.type, e.meter_id, e.thresholds, ${HOLDING_COLUMNS} ${FRESH_ROWS}`;
const GLIMPSE = `SELECT e.type, ${GLIMPSE_COLUMNS} ${FRESH_ROWS}`;

const COUNT = `
  UPDATE customer_entitlement h SET used = c.used, covered = c.covered, told = c.told, updated_at = c.at, version = h.version + 1
  FROM unnest($1::text[], $2::numeric[], $3::numeric[], $4::jsonb[], $5::timestamptz[]) AS c (id, used, covered, told, at)
  WHERE h.id = c.id`;

const ENSURE_ACCESS = `
  INSERT INTO customer_access (customer_id, test_clock_id, version) VALUES ($1, $2, 1)
  ON CONFLICT DO NOTHING`;

const CHANGE_ACCESS = `
  INSERT INTO customer_access (customer_id, test_clock_id, version)
  SELECT customer_id, test_clock_id, 1 FROM unnest($1::varchar[], $2::varchar[]) AS c (customer_id, test_clock_id)
  ORDER BY customer_id
  ON CONFLICT (customer_id) DO UPDATE SET version = customer_access.version + 1`;

const ENSURE_HOLDING = `
  INSERT INTO customer_entitlement (id, version, customer_id, entitlement_id, test_clock_id, access_version,
    rules_version, is_held, granted, is_overage_allowed, used, spent, covered, told, sources, created_at, updated_at)
  VALUES ($1, 1, $2, $3, $4, 0, 0, false, 0, false, 0, 0, 0, '[]', '[]', $5, $5)
  ON CONFLICT DO NOTHING`;

/** Metered ones of these customers whose windows must change with the period: grants roll over, a meter counts ahead. */
const KEPT_AHEAD = `
  SELECT h.customer_id AS "customerId", h.entitlement_id AS "entitlementId"
  FROM customer_entitlement h JOIN entitlement e ON e.id = h.entitlement_id
  WHERE h.customer_id = ANY ($1) AND e.type = 'metered' AND (e.meter_id IS NOT NULL OR EXISTS (
    SELECT FROM entitlement_grant g WHERE g.customer_id = h.customer_id AND g.entitlement_id = h.entitlement_id
      AND g.ended_at IS NULL))
  ORDER BY h.customer_id, h.entitlement_id`;

/** In one order for everybody: whoever keeps the same keys at the same time waits for the first. */
const KEEP_ANSWERS = `
  INSERT INTO entitlement_consumption (customer_id, entitlement_id, idempotency_key, quantity, answer, created_at)
  SELECT $1, $2, idempotency_key, quantity, answer, $6
  FROM unnest($3::text[], $4::numeric[], $5::jsonb[]) AS new (idempotency_key, quantity, answer)
  ORDER BY idempotency_key COLLATE "C"
  ON CONFLICT DO NOTHING
  RETURNING idempotency_key`;

const BEGIN_GRACE = `
  INSERT INTO entitlement_grace (subscription_id, customer_id, started_at)
  SELECT subscription_id, customer_id, $3 FROM unnest($1::varchar[], $2::varchar[]) AS s (subscription_id, customer_id)
  ON CONFLICT DO NOTHING`;

/** What is kept of customers: the tables of which no event tells, and those with the ids that events tell of. */
const UNTOLD = ['entitlement_consumption', 'entitlement_grace', 'customer_access'];
const TOLD = ['entitlement_grant', 'customer_entitlement'];

/** What customers have, resolved: a row holds as long as the versions it was made of are the last ones. */
@Injectable()
export class HoldingsRepository {
  constructor(private readonly database: Database) {}

  /** What was resolved of an entitlement and still holds, as far as commits go; null where it is to be resolved anew. */
  async findFresh(customerId: string, key: string): Promise<Held | null> {
    const [row] = await this.database.prepared<HeldRow>('holding', FRESH, [customerId, key]);
    return row === undefined ? null : toHeld(row);
  }

  /** The same, as much of it as a check is answered from. */
  async glimpseFresh(customerId: string, key: string): Promise<Glimpse | null> {
    const [row] = await this.database.prepared<GlimpseRow>('holding-glimpse', GLIMPSE, [
      customerId,
      key,
    ]);
    return row === undefined ? null : toGlimpse(key, row);
  }

  /** What {@link findFresh} finds, locked until the transaction ends. */
  async lockFresh(customerId: string, key: string): Promise<Held | null> {
    this.database.requireTransaction();
    const [row] = await this.database.prepared<HeldRow>(
      'holding-locked',
      `${FRESH} FOR NO KEY UPDATE OF h`,
      [customerId, key],
    );
    return row === undefined ? null : toHeld(row);
  }

  /** The window that a customer's row was counted by when it was resolved last; null where there is none. */
  async findWindow(customerId: string, entitlementId: string): Promise<ResetWindow | null> {
    const row = await this.database.selectOne(
      CustomerEntitlementEntity,
      'WHERE customer_id = $1 AND entitlement_id = $2',
      [customerId, entitlementId],
    );
    return row === null ? null : windowOf(row);
  }

  /** The row of a customer and an entitlement, made where there is none, locked until the transaction ends. */
  async lock(
    holder: AccessHolder,
    entitlementId: string,
    id: string,
    now: Date,
  ): Promise<HoldingRow> {
    this.database.requireTransaction();
    await this.database.query(ENSURE_HOLDING, [
      id,
      holder.id,
      entitlementId,
      holder.testClockId,
      now,
    ]);
    const row = await this.database.selectOne(
      CustomerEntitlementEntity,
      'WHERE customer_id = $1 AND entitlement_id = $2 FOR NO KEY UPDATE',
      [holder.id, entitlementId],
    );
    invariant(row !== null, `The customer ${holder.id} has a row for ${entitlementId}.`);
    return row;
  }

  async update(row: HoldingRow): Promise<void> {
    this.database.requireTransaction();
    const { id, customerId: _, entitlementId: __, createdAt: ___, ...columns } = row;
    await this.database.update(CustomerEntitlementEntity, id, columns);
  }

  /** Writes what is used and told of rows that the caller's transaction holds; what was resolved stays. */
  async count(counted: readonly { readonly row: HoldingRow; readonly now: Date }[]): Promise<void> {
    this.database.requireTransaction();
    if (counted.length === 0) return;
    await this.database.prepared('holdings-count', COUNT, [
      counted.map(({ row }) => row.id),
      counted.map(({ row }) => toNumeric(row.used)),
      counted.map(({ row }) => toNumeric(row.covered)),
      counted.map(({ row }) => JSON.stringify(row.told)),
      counted.map(({ now }) => now),
    ]);
  }

  /**
   * How many commits may have changed what the customer has. Read without waiting for one that is under way: it holds the
   * row, and may wait for what the caller holds.
   */
  async accessVersionOf({ id, testClockId }: AccessHolder): Promise<number> {
    const known = await this.findAccess(id);
    if (known !== null) return known.version;
    await this.database.query(ENSURE_ACCESS, [id, testClockId]);
    const row = await this.findAccess(id);
    invariant(row !== null, `What the customer ${id} has is counted.`);
    return row.version;
  }

  private findAccess(customerId: string): Promise<CustomerAccessEntity | null> {
    return this.database.selectOne(CustomerAccessEntity, 'WHERE customer_id = $1', [customerId]);
  }

  /** What was resolved for these customers holds no more once the transaction commits. */
  async changeAccess(holders: readonly AccessHolder[]): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(CHANGE_ACCESS, [
      holders.map(({ id }) => id),
      holders.map(({ testClockId }) => testClockId),
    ]);
  }

  /** What of these customers must be resolved in the commit that changes their subscriptions, ascending. */
  keptAhead(customerIds: readonly string[]): Promise<readonly Pair[]> {
    return this.database.query<Pair>(KEPT_AHEAD, [customerIds]);
  }

  async beginGrace(
    subscriptions: readonly { readonly id: string; readonly customerId: string }[],
    now: Date,
  ): Promise<void> {
    await this.database.query(BEGIN_GRACE, [
      subscriptions.map(({ id }) => id),
      subscriptions.map(({ customerId }) => customerId),
      now,
    ]);
  }

  async endGrace(subscriptionIds: readonly string[]): Promise<void> {
    await this.database
      .repository(EntitlementGraceEntity)
      .delete({ subscriptionId: In([...subscriptionIds]) });
  }

  /** When the subscriptions of a customer fell behind with a payment, by their ids. */
  async gracesOf(customerId: string): Promise<ReadonlyMap<string, Date>> {
    const rows = await this.database.select(EntitlementGraceEntity, 'WHERE customer_id = $1', [
      customerId,
    ]);
    return new Map(rows.map(({ subscriptionId, startedAt }) => [subscriptionId, startedAt]));
  }

  /** Removes all that customers have; returns the ids of what events tell of. */
  async removeOf(customerIds: readonly string[]): Promise<readonly string[]> {
    this.database.requireTransaction();
    for (const table of UNTOLD) {
      await this.database.query(`DELETE FROM ${table} WHERE customer_id = ANY ($1)`, [customerIds]);
    }
    const removed: string[] = [];
    for (const table of TOLD) {
      const rows = await this.database.query<{ id: string }>(
        `DELETE FROM ${table} WHERE customer_id = ANY ($1) RETURNING id`,
        [customerIds],
      );
      removed.push(...rows.map(({ id }) => id));
    }
    return removed;
  }

  /** The answers that keys were given. */
  findAnswers(
    { customerId, entitlementId }: Pair,
    idempotencyKeys: readonly string[],
  ): Promise<readonly KeptAnswer[]> {
    return this.database.select(
      EntitlementConsumptionEntity,
      'WHERE customer_id = $1 AND entitlement_id = $2 AND idempotency_key = ANY ($3)',
      [customerId, entitlementId, idempotencyKeys],
    );
  }

  /**
   * Keeps answers for good; how many, for a key that has one keeps that.
   * @throws {ProblemError} `entitlement_key_not_found` where it was deleted meanwhile
   */
  async keepAnswers(
    { entitlement, row: { customerId, entitlementId } }: Held,
    answers: readonly KeptAnswer[],
    createdAt: Date,
  ): Promise<number> {
    try {
      const kept = await this.database.prepared('consumptions-keep', KEEP_ANSWERS, [
        customerId,
        entitlementId,
        answers.map(({ idempotencyKey }) => idempotencyKey),
        answers.map(({ quantity }) => toNumeric(quantity)),
        answers.map(({ answer }) => JSON.stringify(answer)),
        createdAt,
      ]);
      return kept.length;
    } catch (error) {
      if (violatedConstraint(error) === 'entitlement_consumption_entitlement_id_fkey') {
        throw entitlementKeyNotFound(entitlement.key);
      }
      throw error;
    }
  }
}
