import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import type { DueTable } from '../test-clocks';
import { type BilledPeriod, columnsOfPeriods } from './usage-billed.repository';

/**
 * Inserts closed subscriptions. Leaves out customers without a stream (the events of one name of one customer). Billing
 * usage creates a stream, so no usage was billed to these customers.
 */
const CLOSE = `
  INSERT INTO usage_closed_subscription (id, customer_id, test_clock_id)
  SELECT new.id, new.customer_id, new.test_clock_id
  FROM unnest($1::text[], $2::text[], $3::text[]) AS new(id, customer_id, test_clock_id)
  WHERE EXISTS (SELECT FROM usage_stream AS stream WHERE stream.customer_id = new.customer_id)
  ORDER BY new.id
  ON CONFLICT (id) DO UPDATE SET late_due_at = NULL, lease_ends_at = NULL`;

const DELETE_BY_ID = 'DELETE FROM usage_closed_subscription WHERE id = ANY ($1)';

const CLOSED = 'SELECT id, customer_id AS "customerId" FROM usage_closed_subscription AS closed';

const WITHOUT_DUE_TIME = 'closed.late_due_at IS NULL ORDER BY closed.id FOR UPDATE';

/**
 * Closed subscriptions with a bill for the same usage as one of the bills $1. `ANY (ARRAY (…))` makes PostgreSQL look
 * up each subscription by id. With `IN`, it may read all subscriptions.
 */
const CLOSED_WITH_BILLS = `
  ${CLOSED}
  WHERE closed.id = ANY (ARRAY(
    SELECT DISTINCT billed.subscription_id
    FROM usage_billed AS one JOIN usage_billed AS billed
      ON billed.stream_id = one.stream_id AND billed.meter_id = one.meter_id
      AND billed.period_start_at = one.period_start_at AND billed.period_end_at = one.period_end_at
    WHERE one.id = ANY ($1)
  )) AND ${WITHOUT_DUE_TIME}`;

const CLOSED_WITH_PERIODS = `
  ${CLOSED}
  WHERE closed.id = ANY (ARRAY(
    SELECT DISTINCT billed.subscription_id
    FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS one(item_id, start_at, end_at)
    JOIN usage_billed AS billed ON billed.item_id = one.item_id
      AND billed.period_start_at = one.start_at AND billed.period_end_at = one.end_at
  )) AND ${WITHOUT_DUE_TIME}`;

const CLOSED_WITH_LATE_USAGE = `
  ${CLOSED}
  WHERE closed.id = ANY ($1)
    AND EXISTS (SELECT FROM usage_billed AS billed WHERE billed.subscription_id = closed.id AND billed.is_late)
    AND ${WITHOUT_DUE_TIME}`;

const PLAN = `
  UPDATE usage_closed_subscription AS closed SET late_due_at = planned.due_at
  FROM unnest($1::text[], $2::timestamptz[]) AS planned(id, due_at)
  WHERE closed.id = planned.id`;

/** Due times of the late usage of closed subscriptions. A subscription is closed once its last invoice was made. */
export const DUE_LATE_USAGE: DueTable<{ readonly id: string }> = {
  table: 'usage_closed_subscription',
  dueColumn: 'late_due_at',
  columns: {},
};

export interface ClosedSubscription {
  readonly id: string;
  readonly customerId: string;
}

/** Stores subscriptions whose last invoice was made, and the due time of their late usage. */
@Injectable()
export class ClosedSubscriptionsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Marks subscriptions as closed. Their last invoices are made, and later changes of usage are billed on a separate
   * invoice. If a subscription is already closed, clears the due time of its separate invoice.
   */
  async close(
    subscriptions: readonly (ClosedSubscription & { readonly testClockId: string | null })[],
  ): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(CLOSE, [
      subscriptions.map(({ id }) => id),
      subscriptions.map(({ customerId }) => customerId),
      subscriptions.map(({ testClockId }) => testClockId),
    ]);
  }

  /** Deletes the rows of closed subscriptions, so that their late usage is no longer billed. */
  async forget(ids: readonly string[]): Promise<void> {
    await this.database.query(DELETE_BY_ID, [ids]);
  }

  /**
   * Locks and returns closed subscriptions that have a bill for the same usage (stream, meter and period) as one of
   * these bills. A subscription is closed once its last invoice was made. Leaves out subscriptions with a planned
   * late-usage invoice.
   */
  lockByBills(billedIds: readonly string[]): Promise<readonly ClosedSubscription[]> {
    this.database.requireTransaction();
    return this.database.query<ClosedSubscription>(CLOSED_WITH_BILLS, [billedIds]);
  }

  /**
   * Locks and returns closed subscriptions that have a bill for one of these periods. A subscription is closed once its
   * last invoice was made. Leaves out subscriptions with a planned late-usage invoice.
   */
  lockByPeriods(periods: readonly BilledPeriod[]): Promise<readonly ClosedSubscription[]> {
    this.database.requireTransaction();
    return this.database.query<ClosedSubscription>(CLOSED_WITH_PERIODS, columnsOfPeriods(periods));
  }

  /**
   * Locks and returns the subscriptions that are closed and have late usage to bill. A subscription is closed once its
   * last invoice was made. Leaves out subscriptions with a planned late-usage invoice.
   */
  lockWithLateUsage(ids: readonly string[]): Promise<readonly ClosedSubscription[]> {
    this.database.requireTransaction();
    return this.database.query<ClosedSubscription>(CLOSED_WITH_LATE_USAGE, [ids]);
  }

  async plan(planned: readonly { readonly id: string; readonly dueAt: Date }[]): Promise<void> {
    if (planned.length === 0) return;
    const columns = [planned.map(({ id }) => id), planned.map(({ dueAt }) => dueAt)];
    await this.database.query(PLAN, columns);
  }
}
