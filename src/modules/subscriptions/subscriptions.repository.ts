import { Injectable } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import {
  Database,
  ListQuery,
  type ListSummary,
  type Page,
  type PageRequest,
  Reports,
  ROW_LOCKS,
} from '../../platform/database';
import type { DueTable } from '../test-clocks';
import type { Outcome } from './domain/outcome';
import type { ItemEnding } from './domain/periods';
import type {
  ScheduledChange,
  Snapshot,
  Subscription,
  SubscriptionItem,
  SubscriptionPeriod,
} from './domain/subscription';
import { ScheduledChangeEntity } from './scheduled-change.entity';
import { SubscriptionItemEntity } from './subscription-item.entity';
import { SubscriptionPeriodEntity } from './subscription-period.entity';
import { type SubscriptionFilter, subscriptionQuery } from './subscription-query';
import { SubscriptionEntity } from './subscription.entity';

export interface DueSubscription {
  readonly id: string;
  readonly dueAt: Date;
  readonly customerId: string;
  readonly planVersionId: string;
  readonly addons: Subscription['addons'];
}

export const DUE_SUBSCRIPTIONS: DueTable<DueSubscription> = {
  table: 'subscription',
  dueColumn: 'next_billing_at',
  columns: {
    dueAt: 'next_billing_at',
    customerId: 'customer_id',
    planVersionId: 'plan_version_id',
    addons: 'addons',
  },
};

const LOCK_CUSTOMERS = `
  SELECT id FROM customer
  WHERE id = ANY (ARRAY(SELECT customer_id FROM subscription WHERE id = ANY ($1))) AND deleted_at IS NULL
  ORDER BY id ${ROW_LOCKS.reference}`;

/** Selects subscriptions that are unpaid, or whose first payment is overdue as in `isFirstPaymentOverdue`. */
const WITHOUT_AUTOMATIC_CHARGES = `
  SELECT id, status = 'unpaid' AS "isUnpaid" FROM subscription
  WHERE id = ANY ($1) AND (status = 'unpaid'
    OR incomplete_expires_at IS NOT NULL AND (next_billing_at IS NULL OR incomplete_expires_at <= $2))`;

/**
 * Newest period of each subscription. If two periods have the same start, one of them is empty, and the one that ends
 * later is the newest. Uses subqueries, because a join would read the whole table.
 */
const NEWEST_PERIODS = `
  WHERE id = ANY (ARRAY(
    SELECT (SELECT id FROM subscription_period WHERE subscription_id = wanted
      ORDER BY start_at DESC, end_at DESC LIMIT 1)
    FROM unnest($1::text[]) AS wanted))`;

const PERIODS_SINCE = `
  WHERE subscription_id = ANY ($1) AND end_at >= (
    SELECT min(at) FROM unnest($1::text[], $2::timestamptz[]) AS wanted (id, at) WHERE wanted.id = subscription_id)
  ORDER BY start_at, end_at`;

/** Items that had not ended before a given time (null: all items), and items that a pause ended. Oldest first. */
const ITEMS_SINCE = `
  WHERE subscription_id = ANY ($1) AND EXISTS (
    SELECT FROM unnest($1::text[], $2::timestamptz[]) AS since (id, instant)
    WHERE since.id = subscription_id
      AND (end_at IS NULL OR is_paused OR since.instant IS NULL OR end_at >= since.instant))
  ORDER BY id`;

const ENDINGS = `
  SELECT item.id AS "itemId", item.end_at AS "endAt", item.ended_by AS "endedBy",
    subscription.ended_at IS NOT DISTINCT FROM item.end_at AS "isLast", next.proration AS "nextProration"
  FROM subscription_item AS item JOIN subscription ON subscription.id = item.subscription_id
  LEFT JOIN LATERAL (
    SELECT proration FROM subscription_item
    WHERE subscription_id = subscription.id AND start_at = item.end_at ORDER BY id LIMIT 1
  ) AS next ON true
  WHERE item.id = ANY ($1) AND item.end_at IS NOT NULL`;

@Injectable()
export class SubscriptionsRepository {
  constructor(
    private readonly database: Database,
    private readonly reports: Reports,
  ) {}

  find(id: string): Promise<Subscription | null> {
    return this.database.selectOne(SubscriptionEntity, 'WHERE id = $1', [id]);
  }

  page(filter: SubscriptionFilter, request: PageRequest): Promise<Page<Subscription>> {
    return subscriptionQuery(filter).page(this.database, SubscriptionEntity, request);
  }

  summarize(filter: SubscriptionFilter): Promise<readonly ListSummary[]> {
    return subscriptionQuery(filter).summarize(this.reports, {});
  }

  /** Returns a customer's subscriptions that have not ended, oldest first. */
  findRunning(customerId: string): Promise<readonly Subscription[]> {
    const running = `WHERE customer_id = $1 AND status NOT IN ('canceled', 'incomplete_expired') ORDER BY id`;
    return this.database.select(SubscriptionEntity, running, [customerId]);
  }

  /** Returns the subscription without its items and periods, locked until the transaction ends. */
  lock(id: string): Promise<Subscription | null> {
    return this.database.selectOne(SubscriptionEntity, 'WHERE id = $1 FOR NO KEY UPDATE', [id]);
  }

  async updateMetadata(subscription: Subscription): Promise<void> {
    const { id, metadata, version, updatedAt } = subscription;
    await this.database.update(SubscriptionEntity, id, { metadata, version, updatedAt });
  }

  /**
   * Locks and returns the unpaid subscriptions of a customer, and those that a failed charge or a resume can make unpaid:
   * another transaction may be storing that.
   */
  lockRetriedOf(customerId: string): Promise<readonly Subscription[]> {
    const tail = `WHERE customer_id = $1 AND status IN ('active', 'past_due', 'unpaid', 'paused') ORDER BY id ${ROW_LOCKS.change}`;
    return this.database.select(SubscriptionEntity, tail, [customerId]);
  }

  /**
   * Returns the given subscriptions whose invoices are not charged automatically, by id. These are the unpaid
   * subscriptions, and the subscriptions whose first payment is overdue.
   */
  async withoutAutomaticCharges(
    ids: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, { readonly isUnpaid: boolean }>> {
    const rows = await this.database.query<{ id: string; isUnpaid: boolean }>(
      WITHOUT_AUTOMATIC_CHARGES,
      [ids, now],
    );
    return new Map(rows.map((row) => [row.id, row]));
  }

  async updateStatus(subscription: Subscription): Promise<void> {
    const { id, status, incompleteExpiresAt, nextBillingAt, version, updatedAt } = subscription;
    const changed = { status, incompleteExpiresAt, nextBillingAt };
    await this.database.update(SubscriptionEntity, id, { ...changed, version, updatedAt });
  }

  async updateRenewalFailure(subscription: Subscription): Promise<void> {
    const { id, renewalFailedAt, renewalFailureCode, version, updatedAt } = subscription;
    const failure = { renewalFailedAt, renewalFailureCode };
    await this.database.update(SubscriptionEntity, id, { ...failure, version, updatedAt });
  }

  /**
   * Locks the customers of subscriptions against deletion until the transaction ends, and returns their ids. Leaves out
   * deleted customers. Waits for running deletions. Call this method before locking the subscriptions, because the
   * deletion of a customer locks the customer first.
   */
  async lockCustomersOf(ids: readonly string[]): Promise<ReadonlySet<string>> {
    this.database.requireTransaction();
    return new Set(await this.database.queryValues<string>(LOCK_CUSTOMERS, [ids]));
  }

  async lockSnapshot(id: string): Promise<Snapshot | null> {
    const [snapshot] = await this.lockSnapshots([id]);
    return snapshot ?? null;
  }

  /**
   * Returns snapshots (subscriptions with items, newest periods and scheduled changes) in the order of the given ids.
   * Leaves out unknown ids. Locks the subscriptions by ascending id, so that two transactions do not deadlock.
   */
  async lockSnapshots(ids: readonly string[]): Promise<readonly Snapshot[]> {
    return this.snapshots(ids, await this.lockAll(ids));
  }

  /** Returns the snapshots of a customer's subscriptions that have not ended. Takes no lock. */
  async snapshotsOf(customerId: string): Promise<readonly Snapshot[]> {
    const found = await this.findRunning(customerId);
    return this.snapshots(
      found.map(({ id }) => id),
      found,
    );
  }

  /** Returns the newest period of each of these subscriptions. Leaves out subscriptions that have not started. */
  newestPeriods(ids: readonly string[]): Promise<readonly SubscriptionPeriod[]> {
    return this.database.select(SubscriptionPeriodEntity, NEWEST_PERIODS, [ids]);
  }

  /** Returns the periods that end at or after the earliest time given for their subscription, oldest first. */
  periodsSince(
    ids: readonly string[],
    since: readonly Date[],
  ): Promise<readonly SubscriptionPeriod[]> {
    return this.database.select(SubscriptionPeriodEntity, PERIODS_SINCE, [ids, since]);
  }

  private async snapshots(
    ids: readonly string[],
    found: readonly Subscription[],
  ): Promise<readonly Snapshot[]> {
    const subscriptions = new Map(found.map((one) => [one.id, one]));
    const newest = await this.newestPeriods(ids);
    const periods = new Map(newest.map((one) => [one.subscriptionId, one]));
    const since = ids.map((id) => periods.get(id)?.startAt ?? null);
    const held = await this.database.select(SubscriptionItemEntity, ITEMS_SINCE, [ids, since]);
    const items = groupBy(held, ({ subscriptionId }) => subscriptionId);
    const changes = await this.pendingChanges(ids);
    const pending = new Map(changes.map((one) => [one.subscriptionId, one]));
    return ids.flatMap((id) => {
      const subscription = subscriptions.get(id);
      if (subscription === undefined) return [];
      return {
        subscription,
        items: items.get(id) ?? [],
        period: periods.get(id) ?? null,
        pending: pending.get(id) ?? null,
      };
    });
  }

  /** Returns the changes that are scheduled for subscriptions and not yet applied, at most one per subscription. */
  pendingChanges(ids: readonly string[]): Promise<readonly ScheduledChange[]> {
    const waiting = `WHERE subscription_id = ANY ($1) AND status = 'pending'`;
    return this.database.select(ScheduledChangeEntity, waiting, [ids]);
  }

  itemsBilledAfter(ids: readonly string[], at: Date): Promise<readonly SubscriptionItem[]> {
    const tail = `WHERE subscription_id = ANY ($1) AND (end_at IS NULL OR end_at > $2) ORDER BY id`;
    return this.database.select(SubscriptionItemEntity, tail, [ids, at]);
  }

  /**
   * Returns up to `limit` subscriptions with ids above `id` that have not ended and are not on a test clock, by
   * ascending id.
   */
  findRunningAfter(id: string, limit: number): Promise<readonly Subscription[]> {
    const tail = `WHERE id > $1 AND test_clock_id IS NULL
      AND status NOT IN ('canceled', 'incomplete_expired') ORDER BY id LIMIT $2`;
    return this.database.select(SubscriptionEntity, tail, [id, limit]);
  }

  /** Locks subscriptions until the transaction ends, and returns them by ascending id. */
  lockAll(ids: readonly string[]): Promise<readonly Subscription[]> {
    const tail = 'WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE';
    return this.database.select(SubscriptionEntity, tail, [ids]);
  }

  /** Returns the past or planned ends of items, by item id. Items without an end are absent. */
  async itemEnds(ids: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const items = await this.database.select(SubscriptionItemEntity, 'WHERE id = ANY ($1)', [ids]);
    return new Map(items.flatMap(({ id, endAt }) => (endAt === null ? [] : [[id, endAt]])));
  }

  endingsOf(itemIds: readonly string[]): Promise<readonly ItemEnding[]> {
    return this.database.query<ItemEnding>(ENDINGS, [itemIds]);
  }

  /** Returns the last period that started at or before `at`; null if none had started. */
  periodAt(subscriptionId: string, at: Date): Promise<SubscriptionPeriod | null> {
    const newest =
      'WHERE subscription_id = $1 AND start_at <= $2 ORDER BY start_at DESC, end_at DESC LIMIT 1';
    return this.database.selectOne(SubscriptionPeriodEntity, newest, [subscriptionId, at]);
  }

  async insert(subscription: Subscription, items: readonly SubscriptionItem[]): Promise<void> {
    this.database.requireTransaction();
    await this.database.insert(SubscriptionEntity, { ...subscription, leaseEndsAt: null });
    await this.database.insertMany(SubscriptionItemEntity, items);
  }

  /** Writes decisions about different subscriptions. Also ends the leases of workers on their due work. */
  async applyAll(outcomes: readonly Outcome[]): Promise<void> {
    this.database.requireTransaction();
    await this.database.updateMany(
      SubscriptionEntity,
      outcomes.map(({ subscription }) => ({ ...subscription, leaseEndsAt: null })),
    );
    await this.applyToItems(outcomes);
    await this.database.updateMany(
      SubscriptionPeriodEntity,
      outcomes
        .flatMap(({ periodChanged }) => periodChanged ?? [])
        .map(({ id, endAt, isClosed }) => ({ id, endAt, isClosed })),
    );
    await this.database.insertMany(
      SubscriptionPeriodEntity,
      outcomes.flatMap(({ periodOpened }) => periodOpened ?? []),
    );
    await this.database.updateMany(
      ScheduledChangeEntity,
      outcomes.flatMap(({ settled }) => settled ?? []),
    );
    await this.database.insertMany(
      ScheduledChangeEntity,
      outcomes.flatMap(({ scheduled }) => scheduled ?? []),
    );
  }

  private async applyToItems(outcomes: readonly Outcome[]): Promise<void> {
    const removed = outcomes.flatMap(({ itemsRemoved }) => itemsRemoved);
    if (removed.length > 0) await this.database.repository(SubscriptionItemEntity).delete(removed);
    await this.database.updateMany(
      SubscriptionItemEntity,
      outcomes.flatMap(({ itemsEnded }) => itemsEnded),
    );
    await this.database.updateMany(
      SubscriptionItemEntity,
      outcomes.flatMap(({ itemsReopened }) => itemsReopened.map((id) => ({ id, endAt: null }))),
    );
    await this.database.insertMany(
      SubscriptionItemEntity,
      outcomes.flatMap(({ itemsAdded }) => itemsAdded),
    );
  }

  /** Returns scheduled changes, newest first, including applied and undone ones. */
  scheduledChanges(subscriptionId: string, request: PageRequest): Promise<Page<ScheduledChange>> {
    const query = new ListQuery('scheduled_change').where('subscription_id = $', subscriptionId);
    return query.page(this.database, ScheduledChangeEntity, request);
  }

  findScheduledChange(subscriptionId: string, id: string): Promise<ScheduledChange | null> {
    return this.database.selectOne(
      ScheduledChangeEntity,
      'WHERE subscription_id = $1 AND id = $2',
      [subscriptionId, id],
    );
  }
}
