import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import type { WaitingRows } from '../../platform/jobs';
import type { Invoice } from './domain/invoice';
import type { AttemptedInvoice } from './domain/invoice-collection';
import { CAN_BE_PAID, OWED } from './invoice-query';
import { CHARGEABLE, InvoiceEntity, BECOMES_OVERDUE } from './invoice.entity';

/** Id of a test clock; null: real time. */
export type TimeScope = string | null;

const CLOSED = `"status" <> 'open'`;

/** Repeats the conditions of the partial indexes, so that PostgreSQL can use these indexes. */
const scoped = (scope: TimeScope): string =>
  scope === null ? 'test_clock_id IS NULL AND $1::varchar IS NULL' : 'test_clock_id = $1';

/**
 * Invoices with a `collect_at`, except on test clocks. An open invoice is charged automatically at that time. The
 * collection of an invoice that is not open ends at that time, and its subscription may become active again.
 */
export const WAITING_FOR_COLLECTION: WaitingRows = {
  table: 'invoice',
  dueAt: 'collect_at',
  where: `test_clock_id IS NULL AND ((${CHARGEABLE}) OR ${CLOSED})`,
};

export const WAITING_UNTIL_OVERDUE: WaitingRows = {
  table: 'invoice',
  dueAt: 'due_at',
  where: `test_clock_id IS NULL AND ${BECOMES_OVERDUE}`,
};

const DUE_FOR_COLLECTION = (scope: TimeScope, state: string): string => `
  SELECT id FROM invoice
  WHERE ${scoped(scope)} AND collect_at <= $2 AND ${state}
  ORDER BY collect_at, id LIMIT $3`;

const ONE_DUE_FOR_COLLECTION = `
  SELECT id FROM invoice WHERE id = $1 AND test_clock_id IS NULL AND collect_at <= $2 AND ${CHARGEABLE}
  FOR NO KEY UPDATE SKIP LOCKED`;

const OVERDUE = (scope: TimeScope): string => `
  SELECT id FROM invoice WHERE ${scoped(scope)} AND due_at <= $2 AND ${BECOMES_OVERDUE}
  ORDER BY due_at, id LIMIT $3`;

const LOCK_OVERDUE = `
  SELECT id FROM invoice WHERE id = ANY ($1) AND due_at <= $2 AND ${BECOMES_OVERDUE}
  ORDER BY due_at, id FOR NO KEY UPDATE SKIP LOCKED`;

/** Reads when the next automatic charge, or the next end of a collection, is due on a test clock. */
export const NEXT_COLLECTION = `
  SELECT least(
    (SELECT min(collect_at) FROM invoice
      WHERE test_clock_id = $1 AND collect_at IS NOT NULL AND ${CHARGEABLE}),
    (SELECT min(collect_at) FROM invoice
      WHERE test_clock_id = $1 AND collect_at IS NOT NULL AND ${CLOSED})) AS due_at`;

export const NEXT_OVERDUE = `
  SELECT min(due_at) AS due_at FROM invoice WHERE test_clock_id = $1 AND ${BECOMES_OVERDUE}`;

const STOP_COLLECTING = `
  UPDATE invoice
  SET collect_at = NULL, is_collected_while_unpaid = false, version = version + 1,
    updated_at = greatest(updated_at, $2)
  WHERE id = ANY ($1)`;

/** Leaves the version unchanged, because the API does not show the `collect_at` of invoices that are not open. */
const CLOSE_COLLECTION = 'UPDATE invoice SET collect_at = NULL WHERE id = $1';

const PLAN_COLLECTING = `
  UPDATE invoice SET collect_at = $2, version = version + 1, updated_at = greatest(updated_at, $3)
  WHERE id = ANY ($1)`;

/**
 * Changes only `collect_at` if the invoice is not open. The version stays, because the API does not show the
 * `collect_at` of such an invoice.
 */
const POSTPONE_DUE = `
  UPDATE invoice SET collect_at = $2, version = version + (status = 'open')::int,
    updated_at = CASE WHEN status = 'open' THEN greatest(updated_at, $3) ELSE updated_at END
  WHERE id = $1 AND collect_at <= $3`;

/** Limits the time for which a locked row can delay the charges of other customers. */
const SHORT_WAITS = { statementMs: 30_000, lockMs: 500 };

/** Leaves the version unchanged, because the API does not show `is_collected_while_unpaid`. */
const COLLECT_WHILE_UNPAID = `
  UPDATE invoice SET is_collected_while_unpaid = true WHERE id = ANY ($1)`;

const AUTOMATIC_OF_CUSTOMER = `
  SELECT id FROM invoice
  WHERE customer_id = $1 AND ${OWED} AND collection = 'automatic' ORDER BY id FOR NO KEY UPDATE`;

const OPEN_OF_SUBSCRIPTION = `
  SELECT id FROM invoice WHERE subscription_id = $1 AND status = 'open' LIMIT 1`;

const OPEN_OF_SUBSCRIPTIONS = `
  SELECT id, subscription_id AS "subscriptionId", amount_pending > 0 AS "isBeingPaid" FROM invoice
  WHERE subscription_id = ANY ($1) AND status = 'open' ORDER BY id FOR NO KEY UPDATE`;

const OWED_OF_SUBSCRIPTION = `
  SELECT id FROM invoice
  WHERE subscription_id = $1 AND ${CAN_BE_PAID} ORDER BY id FOR NO KEY UPDATE`;

const ATTEMPTED_OF_SUBSCRIPTION = `
  SELECT id, attempt_count AS "attemptCount", collect_at IS NOT NULL AS "isPlanned" FROM invoice
  WHERE subscription_id = $1 AND status = 'open' AND attempt_count > 0`;

const OWED_AMOUNTS = `
  SELECT subscription_id AS "subscriptionId",
    sum(amount_due - amount_credited - amount_paid) AS "amountMinor"
  FROM invoice WHERE subscription_id = ANY ($1) AND ${CAN_BE_PAID}
  GROUP BY subscription_id`;

interface OpenRow {
  readonly id: string;
  readonly subscriptionId: string;
  readonly isBeingPaid: boolean;
}

/** Finds and locks invoices that are unpaid, overdue or due for an automatic charge. Plans automatic charges. */
@Injectable()
export class DueInvoicesRepository {
  constructor(private readonly database: Database) {}

  /** Locks open invoices whose automatic charge is due, until the transaction ends. Skips invoices that are locked. */
  lockCollectable(scope: TimeScope, now: Date, limit: number): Promise<readonly string[]> {
    this.database.requireTransaction();
    const sql = `${DUE_FOR_COLLECTION(scope, CHARGEABLE)} FOR NO KEY UPDATE SKIP LOCKED`;
    return this.database.queryValues<string>(sql, [scope, now, limit]);
  }

  /** Returns the ids of open invoices whose automatic charge is due in real time, those due longest first. */
  findCollectable(now: Date, limit: number): Promise<readonly string[]> {
    return this.database.queryValues<string>(DUE_FOR_COLLECTION(null, CHARGEABLE), [
      null,
      now,
      limit,
    ]);
  }

  /**
   * Does the same as {@link lockCollectable} for one invoice in real time. Returns no id if the charge is not due.
   * Shortens the lock timeout of the transaction.
   */
  async lockOneCollectable(id: string, now: Date): Promise<readonly string[]> {
    await this.database.setTransactionTimeouts(SHORT_WAITS);
    return this.database.queryValues<string>(ONE_DUE_FOR_COLLECTION, [id, now]);
  }

  /** Delays the due charge of an open invoice, or the due end of collection of another one. Otherwise a no-op. */
  async postponeCollectable(id: string, at: Date, now: Date): Promise<void> {
    await this.database.query(POSTPONE_DUE, [id, at, now]);
  }

  /** Returns the ids of void, written off or wholly credited invoices whose collection is due to end. */
  findClosed(scope: TimeScope, now: Date, limit: number): Promise<readonly string[]> {
    return this.database.queryValues<string>(DUE_FOR_COLLECTION(scope, CLOSED), [
      scope,
      now,
      limit,
    ]);
  }

  /** Returns the ids of unpaid invoices whose due date has come, those due longest first. */
  findOverdue(scope: TimeScope, now: Date, limit: number): Promise<readonly string[]> {
    return this.database.queryValues<string>(OVERDUE(scope), [scope, now, limit]);
  }

  /** Locks the given invoices that must be marked as overdue, until the transaction ends. Skips locked invoices. */
  lockOverdue(ids: readonly string[], now: Date): Promise<readonly string[]> {
    this.database.requireTransaction();
    return this.database.queryValues<string>(LOCK_OVERDUE, [ids, now]);
  }

  async updateOverdue(invoices: readonly Invoice[]): Promise<void> {
    await this.database.updateMany(
      InvoiceEntity,
      invoices.map(({ id, overdueAt, version, updatedAt }) => ({
        id,
        overdueAt,
        version,
        updatedAt,
      })),
    );
  }

  async stopCollecting(ids: readonly string[], now: Date): Promise<void> {
    this.database.requireTransaction();
    if (ids.length > 0) await this.database.query(STOP_COLLECTING, [ids, now]);
  }

  /** Ends the collection of a locked invoice that is void, written off or wholly credited. */
  async closeCollection(id: string): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(CLOSE_COLLECTION, [id]);
  }

  async planCollecting(ids: readonly string[], at: Date, now: Date): Promise<void> {
    this.database.requireTransaction();
    if (ids.length > 0) await this.database.query(PLAN_COLLECTING, [ids, at, now]);
  }

  /** Lets the planned charge of these invoices be made even if their subscription becomes unpaid before then. */
  async collectWhileUnpaid(ids: readonly string[]): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(COLLECT_WHILE_UNPAID, [ids]);
  }

  /** Locks the open invoices of a customer that are charged automatically, until the transaction ends. */
  lockAutomaticOf(customerId: string): Promise<readonly string[]> {
    this.database.requireTransaction();
    return this.database.queryValues<string>(AUTOMATIC_OF_CUSTOMER, [customerId]);
  }

  async hasOpen(subscriptionId: string): Promise<boolean> {
    return (
      (await this.database.queryValues<string>(OPEN_OF_SUBSCRIPTION, [subscriptionId])).length > 0
    );
  }

  /**
   * Locks the open invoices of subscriptions. Returns the ids of the subscriptions whose invoices have a pending
   * payment.
   */
  async lockBeingPaid(subscriptionIds: readonly string[]): Promise<ReadonlySet<string>> {
    const open = await this.openOf(subscriptionIds);
    return new Set(
      open.filter(({ isBeingPaid }) => isBeingPaid).map(({ subscriptionId }) => subscriptionId),
    );
  }

  /** Locks the open invoices of subscriptions until the transaction ends. Returns their ids. */
  async lockOpenOf(subscriptionIds: readonly string[]): Promise<readonly string[]> {
    return (await this.openOf(subscriptionIds)).map(({ id }) => id);
  }

  /** Locks the open and the uncollectible invoices of a subscription until the transaction ends. Returns their ids. */
  lockOwedOf(subscriptionId: string): Promise<readonly string[]> {
    this.database.requireTransaction();
    return this.database.queryValues<string>(OWED_OF_SUBSCRIPTION, [subscriptionId]);
  }

  /** Returns the amounts owed on open and uncollectible invoices, by subscription id; absent if there are none. */
  async owedAmountsOf(subscriptionIds: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const rows = await this.database.query<{ subscriptionId: string; amountMinor: string }>(
      OWED_AMOUNTS,
      [subscriptionIds],
    );
    return new Map(rows.map((row) => [row.subscriptionId, BigInt(row.amountMinor)]));
  }

  private async openOf(subscriptionIds: readonly string[]): Promise<readonly OpenRow[]> {
    this.database.requireTransaction();
    if (subscriptionIds.length === 0) return [];
    return this.database.query<OpenRow>(OPEN_OF_SUBSCRIPTIONS, [subscriptionIds]);
  }

  /** Returns the open invoices of a subscription that had at least one attempt at an automatic charge. */
  findAttempted(subscriptionId: string): Promise<readonly AttemptedInvoice[]> {
    return this.database.query<AttemptedInvoice>(ATTEMPTED_OF_SUBSCRIPTION, [subscriptionId]);
  }
}
