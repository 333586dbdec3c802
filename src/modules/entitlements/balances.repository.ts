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

interface AccessRow {
  readonly version: number;
  readonly hasBalance: boolean;
}

/**
 * SQL that joins the balance of customer `$1` for entitlement key `$2` with its entitlement. Finds no row if the access
 * version of the customer or the rules version of the entitlement has changed since the balance was recalculated.
 */
const CURRENT_ROWS = `
  FROM entitlement e
  JOIN customer_access a ON a.customer_id = $1
  JOIN customer_entitlement h ON h.customer_id = a.customer_id AND h.entitlement_id = e.id
    AND h.access_version = a.version AND h.rules_version = e.rules_version
  WHERE e.key = $2`;

const SELECT_CURRENT = `SELECT e.key, e.type, e.meter_id, e.thresholds, ${BALANCE_COLUMNS} ${CURRENT_ROWS}`;
const SELECT_CACHED = `SELECT e.type, ${CACHED_BALANCE_COLUMNS} ${CURRENT_ROWS}`;

const WRITE_USAGE = `
  UPDATE customer_entitlement h SET used = c.used, spent = c.spent, covered = c.covered, told = c.told, updated_at = c.at,
    version = h.version + 1
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

/** Inserts no row if the customer was meanwhile purged with its test clock. */
const ENSURE_BALANCE = `
  INSERT INTO customer_entitlement (id, version, customer_id, entitlement_id, test_clock_id, access_version,
    rules_version, is_held, granted, is_overage_allowed, used, spent, covered, told, sources, created_at, updated_at)
  SELECT $1, 1, id, $3, $4, 0, 0, false, 0, false, 0, 0, 0, '[]', '[]', $5, $5
  FROM customer WHERE id = $2 FOR KEY SHARE
  ON CONFLICT DO NOTHING`;

/**
 * SQL that selects the balances that are recalculated in the commit that changes a subscription: balances of metered
 * entitlements that have a meter, or for which the customer has a grant without `ended_at`.
 */
const EAGER_BALANCES = `
  SELECT h.customer_id AS "customerId", h.entitlement_id AS "entitlementId"
  FROM customer_entitlement h JOIN entitlement e ON e.id = h.entitlement_id
  WHERE h.customer_id = ANY ($1) AND e.type = 'metered' AND (e.meter_id IS NOT NULL OR EXISTS (
    SELECT FROM entitlement_grant g WHERE g.customer_id = h.customer_id AND g.entitlement_id = h.entitlement_id
      AND g.ended_at IS NULL))
  ORDER BY h.customer_id, h.entitlement_id`;

const DELETE_CACHED = `
  DELETE FROM customer_entitlement WHERE id = ANY (ARRAY(
    SELECT id FROM customer_entitlement
    WHERE entitlement_id = $1 AND ($2 OR window_start_at IS NULL) FOR UPDATE SKIP LOCKED))`;

const BEGIN_GRACE = `
  INSERT INTO entitlement_grace (subscription_id, customer_id, started_at)
  SELECT subscription_id, customer_id, $3 FROM unnest($1::varchar[], $2::varchar[]) AS s (subscription_id, customer_id)
  ON CONFLICT DO NOTHING`;

/**
 * Stores balances. Each balance contains two versions, and is current while both are the latest ones: the access
 * version of its customer, which changes of subscriptions increment, and the rules version of its entitlement, which
 * changes of add-on links increment.
 */
@Injectable()
export class BalancesRepository {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
  ) {}

  /**
   * Returns the balance if both of its versions are current; null if it must be recalculated or does not exist. Does
   * not check `validUntil`.
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

  /** Returns the balance like {@link findCurrent}, locked until the transaction ends. */
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
   * Returns the balance of a customer and an entitlement, locked until the transaction ends. Inserts an outdated one if
   * there is none.
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

  /**
   * Writes the usage, its parts and the notified thresholds of balances that the caller has locked. Does not change the
   * allowance.
   */
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
   * Returns the access version of a customer; inserts version 1 if there is none. First locks the customer if the
   * version or the balance is missing: both refer to the customer, and a deletion or purge of the customer locks it
   * before streams. Reads an existing version without a lock: another transaction that has locked it may be waiting for
   * locks of the caller, which would be a deadlock.
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

  /**
   * Increments the access versions of customers, so that all their balances are outdated when the transaction commits.
   */
  async invalidateCustomers(customers: readonly EntitledCustomer[]): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(INVALIDATE_CUSTOMERS, [
      customers.map(({ id }) => id),
      customers.map(({ testClockId }) => testClockId),
    ]);
  }

  /**
   * Returns the balances to recalculate in the commit that changes subscriptions of these customers. Sorts them by
   * customer id, then by entitlement id.
   */
  listEager(customerIds: readonly string[]): Promise<readonly BalanceKey[]> {
    return this.database.query<BalanceKey>(EAGER_BALANCES, [customerIds]);
  }

  /**
   * Deletes the cached balances of an entitlement that the caller has locked. Keeps two kinds of balances. If the
   * entitlement has a meter, keeps balances with a usage window, because metering counts usage for them. Also keeps
   * balances that other transactions have locked: a consumption locks its balance and then waits for the entitlement,
   * so waiting for the consumption would be a deadlock. The foreign key of a kept balance prevents the deletion of the
   * entitlement.
   */
  async deleteCached({ id, meterId }: Pick<Entitlement, 'id' | 'meterId'>): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(DELETE_CACHED, [id, meterId === null]);
  }

  /** Starts the grace periods of subscriptions. A subscription that already has a grace period keeps it. */
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

  /** Returns the starts of the grace periods of a customer, by subscription id. */
  async gracesOf(customerId: string): Promise<ReadonlyMap<string, Date>> {
    const rows = await this.database.select(EntitlementGraceEntity, 'WHERE customer_id = $1', [
      customerId,
    ]);
    return new Map(rows.map(({ subscriptionId, startedAt }) => [subscriptionId, startedAt]));
  }
}
