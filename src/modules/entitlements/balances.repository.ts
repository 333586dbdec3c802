import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { invariant } from '../../core/invariant';
import { Database, listOfAnyLength } from '../../platform/database';
import { raise } from '../../platform/errors';
import { customerNotFound, CustomersService } from '../customers';
import { CustomerEntitlementEntity } from './customer-entitlement.entity';
import { toNumeric } from './decimal-column';
import {
  type CachedBalance,
  type BalanceRecord,
  type BalanceRow,
} from './domain/customer-entitlement';
import type { Entitlement } from './domain/entitlement';
import { EntitlementGraceEntity } from './entitlement-grace.entity';
import {
  CACHED_BALANCE_COLUMNS,
  type RawCachedBalance,
  BALANCE_COLUMNS,
  NEXT_VERSION,
  type RawBalanceRow,
  toCachedBalance,
  toBalanceRecord,
} from './balance-rows';

export interface EntitledCustomer {
  readonly id: string;
  readonly testClockId: string | null;
}

export interface BalanceKey {
  readonly customerId: string;
  readonly entitlementId: string;
}

/** Start or end of the window of a balance. Without a window: the time up to which former windows counted its usage. */
export interface BalanceEdge {
  readonly customerId: string;
  readonly at: Date;
}

/**
 * Sorts balances by customer id, then by entitlement id. A transaction that locks several balances must use this order.
 */
export function inLockOrder<Balance extends BalanceKey>(
  balances: readonly Balance[],
): readonly Balance[] {
  const nameOf = ({ customerId, entitlementId }: Balance) => `${customerId} ${entitlementId}`;
  return [...balances].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

interface AccessRow {
  readonly version: number;
  readonly hasBalance: boolean;
}

/**
 * Joins the balance of customer `$1` for entitlement key `$2` with its entitlement. Finds no row if the customer is
 * deleted. Finds no row if a subscription (`a.version`) or an add-on link (`e.rules_version`) changed after the last
 * recalculation of the balance.
 */
const CURRENT_ROWS = `
  FROM entitlement e
  JOIN customer c ON c.id = $1 AND c.deleted_at IS NULL
  JOIN customer_access a ON a.customer_id = c.id
  JOIN customer_entitlement h ON h.customer_id = a.customer_id AND h.entitlement_id = e.id
    AND h.access_version = a.version AND h.rules_version = e.rules_version
  WHERE e.key = $2`;

const SELECT_CURRENT = `SELECT ${BALANCE_COLUMNS} ${CURRENT_ROWS}`;
const SELECT_CACHED = `SELECT ${CACHED_BALANCE_COLUMNS} ${CURRENT_ROWS}`;

const WRITE_USAGE = `
  UPDATE customer_entitlement h SET used = c.used, spent = c.spent, covered = c.covered, told = c.told, updated_at = c.at,
    version = ${NEXT_VERSION}
  FROM unnest(
    ${listOfAnyLength('$1', 'text')}, ${listOfAnyLength('$2', 'numeric')}, ${listOfAnyLength('$3', 'numeric')},
    ${listOfAnyLength('$4', 'numeric')}, ${listOfAnyLength('$5', 'jsonb')}, ${listOfAnyLength('$6', 'timestamptz')}
  ) AS c (id, used, spent, covered, told, at)
  WHERE h.id = c.id`;

const SELECT_ACCESS = `
  SELECT version, EXISTS (
    SELECT FROM customer_entitlement h WHERE h.customer_id = a.customer_id AND h.entitlement_id = $2
  ) AS "hasBalance"
  FROM customer_access a WHERE customer_id = $1`;

const ENSURE_ACCESS = `
  INSERT INTO customer_access (customer_id, test_clock_id, version) VALUES ($1, $2, 1)
  ON CONFLICT DO NOTHING`;

const INVALIDATE_CUSTOMERS = `
  INSERT INTO customer_access (customer_id, test_clock_id, version)
  SELECT customer_id, test_clock_id, 1 FROM unnest($1::varchar[], $2::varchar[]) AS c (customer_id, test_clock_id)
  ORDER BY customer_id
  ON CONFLICT (customer_id) DO UPDATE SET version = customer_access.version + 1`;

/**
 * Inserts an empty, outdated balance. Inserts no row if the balance exists, or if the customer was meanwhile purged
 * with its test clock.
 */
const ENSURE_BALANCE = `
  INSERT INTO customer_entitlement (id, version, customer_id, entitlement_id, test_clock_id, access_version,
    rules_version, is_held, granted, is_overage_allowed, used, spent, covered, told, sources, created_at, updated_at)
  SELECT $1, 1, id, $3, $4, 0, 0, false, 0, false, 0, 0, 0, '[]', '[]', $5, $5
  FROM customer WHERE id = $2 FOR KEY SHARE
  ON CONFLICT DO NOTHING`;

const EAGER_BALANCES = `
  SELECT h.customer_id AS "customerId", h.entitlement_id AS "entitlementId"
  FROM customer_entitlement h JOIN entitlement e ON e.id = h.entitlement_id
  WHERE h.customer_id = ANY ($1) AND e.type = 'metered' AND (e.meter_id IS NOT NULL OR EXISTS (
    SELECT FROM entitlement_grant g WHERE g.customer_id = h.customer_id AND g.entitlement_id = h.entitlement_id
      AND g.ended_at IS NULL))
  ORDER BY h.customer_id, h.entitlement_id`;

const WINDOW_EDGES = `
  SELECT customer_id AS "customerId", edge AS at
  FROM customer_entitlement CROSS JOIN LATERAL (VALUES (covered_until), (window_start_at), (window_end_at)) AS edges(edge)
  WHERE customer_id = ANY ($1) AND edge IS NOT NULL`;

const DELETE_CACHED = `
  DELETE FROM customer_entitlement WHERE id = ANY (ARRAY(
    SELECT id FROM customer_entitlement
    WHERE entitlement_id = $1 AND ($2 OR window_start_at IS NULL) FOR UPDATE SKIP LOCKED))`;

const BEGIN_GRACE = `
  INSERT INTO entitlement_grace (subscription_id, customer_id, started_at)
  SELECT subscription_id, customer_id, $3 FROM unnest($1::varchar[], $2::varchar[]) AS s (subscription_id, customer_id)
  ON CONFLICT DO NOTHING`;

/**
 * Stores balances. Changes of a customer's subscriptions increment the access version of the customer. Changes of
 * add-on links increment the rules version of the entitlement. A balance contains the two versions with which it was
 * calculated. It is outdated if one of them is no longer current.
 */
@Injectable()
export class BalancesRepository {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
  ) {}

  /**
   * Returns the balance; null if it does not exist or is outdated (see {@link BalancesRepository}), or if the customer
   * is deleted. Does not check `validUntil`.
   */
  async findCurrent(customerId: string, key: string): Promise<BalanceRecord | null> {
    const [row] = await this.database.queryPrepared<RawBalanceRow>(
      'balance-current',
      SELECT_CURRENT,
      [customerId, key],
    );
    return row === undefined ? null : toBalanceRecord(row);
  }

  /** Like {@link findCurrent}, but returns only the columns that the access check needs. */
  async findCached(customerId: string, key: string): Promise<CachedBalance | null> {
    const [row] = await this.database.queryPrepared<RawCachedBalance>(
      'balance-cached',
      SELECT_CACHED,
      [customerId, key],
    );
    return row === undefined ? null : toCachedBalance(key, row);
  }

  /** Like {@link findCurrent}, but locks the balance until the transaction ends. */
  async lockCurrent(customerId: string, key: string): Promise<BalanceRecord | null> {
    this.database.requireTransaction();
    const [row] = await this.database.queryPrepared<RawBalanceRow>(
      'balance-locked',
      `${SELECT_CURRENT} FOR NO KEY UPDATE OF h`,
      [customerId, key],
    );
    return row === undefined ? null : toBalanceRecord(row);
  }

  /**
   * Returns a customer's balance for an entitlement, locked until the transaction ends. If there is no balance, inserts
   * an outdated one.
   * @throws {ProblemError} `customer_not_found` if the customer was meanwhile purged with its test clock
   */
  async lock(
    customer: EntitledCustomer,
    entitlementId: string,
    id: string,
    now: Date,
  ): Promise<BalanceRow> {
    this.database.requireTransaction();
    const find = () =>
      this.database.selectOne(
        CustomerEntitlementEntity,
        'WHERE customer_id = $1 AND entitlement_id = $2 FOR NO KEY UPDATE',
        [customer.id, entitlementId],
      );
    const existing = await find();
    if (existing !== null) return existing;
    await this.database.query(ENSURE_BALANCE, [
      id,
      customer.id,
      entitlementId,
      customer.testClockId,
      now,
    ]);
    return (await find()) ?? raise(customerNotFound(customer.id));
  }

  async update(row: BalanceRow): Promise<void> {
    this.database.requireTransaction();
    const { id, customerId: _, entitlementId: __, createdAt: ___, ...columns } = row;
    await this.database.update(CustomerEntitlementEntity, id, columns);
  }

  /** Writes the usage and the notified thresholds of balances. The caller must have locked the balances. */
  async writeUsage(
    counted: readonly { readonly row: BalanceRow; readonly now: Date }[],
  ): Promise<void> {
    this.database.requireTransaction();
    if (counted.length === 0) return;
    await this.database.queryPrepared('balances-write-usage', WRITE_USAGE, [
      counted.map(({ row }) => row.id),
      counted.map(({ row }) => toNumeric(row.used)),
      counted.map(({ row }) => toNumeric(row.expiredGrantUsage)),
      counted.map(({ row }) => toNumeric(row.planUsage)),
      counted.map(({ row }) => JSON.stringify(row.notifiedThresholds)),
      counted.map(({ now }) => now),
    ]);
  }

  /**
   * Returns the access version of a customer, a number that each change of its subscriptions increments. Inserts
   * version 1 if there is none.
   * - If the version or the balance is missing, locks the customer, because new rows refer to it. The caller must lock
   *   usage streams after that, as a deletion or purge of the customer does.
   * - Reads an existing version without a lock. Waiting for its lock could be a deadlock, because the holder may be
   *   waiting for locks of the caller.
   * @throws {ProblemError} `customer_not_found` if the customer was meanwhile purged with its test clock
   */
  async accessVersionOf(
    { id, testClockId }: EntitledCustomer,
    entitlementId: string,
  ): Promise<number> {
    const find = async () => {
      const rows = await this.database.query<AccessRow>(SELECT_ACCESS, [id, entitlementId]);
      return rows[0] ?? null;
    };
    const known = await find();
    if (known?.hasBalance) return known.version;
    if ((await this.customers.lockForHistory(id)) === null) throw customerNotFound(id);
    if (known !== null) return known.version;
    await this.database.query(ENSURE_ACCESS, [id, testClockId]);
    const row = await find();
    invariant(row !== null, `The customer ${id} has an access version.`);
    return row.version;
  }

  /** Increments the access versions of customers. All their balances are outdated once the transaction commits. */
  async invalidateCustomers(customers: readonly EntitledCustomer[]): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(INVALIDATE_CUSTOMERS, [
      customers.map(({ id }) => id),
      customers.map(({ testClockId }) => testClockId),
    ]);
  }

  /**
   * Returns the balances that must be recalculated in the same transaction as a change of subscriptions of these
   * customers. These are the balances of metered entitlements with a meter, or with a grant that has not ended. Sorted
   * by customer id, then by entitlement id.
   */
  listEager(customerIds: readonly string[]): Promise<readonly BalanceKey[]> {
    return this.database.query<BalanceKey>(EAGER_BALANCES, [customerIds]);
  }

  /**
   * Returns the start and end of the window of each balance. For a balance without a window, returns the time up to
   * which former windows counted usage.
   */
  windowEdges(customerIds: readonly string[]): Promise<readonly BalanceEdge[]> {
    return this.database.query<BalanceEdge>(WINDOW_EDGES, [customerIds]);
  }

  /**
   * Deletes the cached balances of an entitlement, which the caller must have locked. Keeps two kinds of balances.
   * Their foreign keys then prevent the deletion of the entitlement.
   * - Balances with a usage window, if the entitlement has a meter: metering counts usage in this window.
   * - Balances that another transaction has locked. A consumption locks its balance and then waits for the entitlement.
   *   Waiting for the balance here could therefore be a deadlock.
   */
  async deleteCached({ id, meterId }: Pick<Entitlement, 'id' | 'meterId'>): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(DELETE_CACHED, [id, meterId === null]);
  }

  /** Starts grace periods. A grace period that has already started is not restarted. */
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

  /** Returns the start of each grace period of a customer, by subscription id. */
  async gracesOf(customerId: string): Promise<ReadonlyMap<string, Date>> {
    const rows = await this.database.select(EntitlementGraceEntity, 'WHERE customer_id = $1', [
      customerId,
    ]);
    return new Map(rows.map(({ subscriptionId, startedAt }) => [subscriptionId, startedAt]));
  }
}
