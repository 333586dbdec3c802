import { Injectable } from '@nestjs/common';
import { IsNull, MoreThan, Or } from 'typeorm';
import { Database, type Page, pageById, type PageRequest } from '../../platform/database';
import type { Outcome } from './domain/outcome';
import type {
  ScheduledChange,
  Snapshot,
  Subscription,
  SubscriptionItem,
  SubscriptionStatus,
} from './domain/subscription';
import { ScheduledChangeEntity } from './scheduled-change.entity';
import { SubscriptionItemEntity } from './subscription-item.entity';
import { SubscriptionPeriodEntity } from './subscription-period.entity';
import { SubscriptionEntity } from './subscription.entity';

export interface SubscriptionFilter {
  readonly customerId: string | null;
  readonly status: SubscriptionStatus | null;
}

/** Real time leaves alone what lives on a test clock. */
const CLAIM_DUE = `
  UPDATE subscription SET lease_ends_at = $2 WHERE id IN (
    SELECT id FROM subscription
    WHERE next_billing_at <= $1 AND test_clock_id IS NULL
      AND (lease_ends_at IS NULL OR lease_ends_at <= $1)
    ORDER BY next_billing_at, id LIMIT $3 FOR UPDATE SKIP LOCKED)
  RETURNING id, next_billing_at`;

const NEXT_ON_TEST_CLOCK = `
  SELECT min(next_billing_at) AS due_at FROM subscription
  WHERE test_clock_id = $1 AND next_billing_at IS NOT NULL`;

const DUE_ON_TEST_CLOCK = `
  SELECT id FROM subscription WHERE test_clock_id = $1 AND next_billing_at <= $2
  ORDER BY next_billing_at, id LIMIT $3`;

@Injectable()
export class SubscriptionsRepository {
  constructor(private readonly database: Database) {}

  find(id: string): Promise<Subscription | null> {
    return this.subscriptions.findOneBy({ id });
  }

  page(filter: SubscriptionFilter, request: PageRequest): Promise<Page<Subscription>> {
    const query = this.subscriptions.createQueryBuilder('subscription');
    const { customerId, status } = filter;
    if (customerId !== null)
      query.andWhere('subscription.customerId = :customerId', { customerId });
    if (status !== null) query.andWhere('subscription.status = :status', { status });
    return pageById(query, request);
  }

  /** All that a decision is made from, the subscription locked until the transaction ends. */
  async lockSnapshot(id: string): Promise<Snapshot | null> {
    this.database.requireTransaction();
    const subscription = await this.subscriptions.findOne({
      where: { id },
      lock: { mode: 'pessimistic_write' },
    });
    if (subscription === null) return null;
    const periods = await this.database.repository(SubscriptionPeriodEntity).find({
      where: { subscriptionId: id },
      // A period that was cut off where it began starts where the next one does.
      order: { startAt: 'DESC', endAt: 'DESC' },
      take: 1,
    });
    const period = periods[0] ?? null;
    const pending = await this.database
      .repository(ScheduledChangeEntity)
      .findOneBy({ subscriptionId: id, status: 'pending' });
    return { subscription, items: await this.itemsSince(id, period?.startAt), period, pending };
  }

  /** The items that hold after an instant, or would but for a pause, oldest first. */
  private itemsSince(subscriptionId: string, startAt?: Date): Promise<SubscriptionItem[]> {
    const after = startAt === undefined ? {} : { endAt: Or(IsNull(), MoreThan(startAt)) };
    return this.database.repository(SubscriptionItemEntity).find({
      where: [
        { subscriptionId, ...after },
        { subscriptionId, isPaused: true },
      ],
      order: { id: 'ASC' },
    });
  }

  async insert(subscription: Subscription, items: readonly SubscriptionItem[]): Promise<void> {
    this.database.requireTransaction();
    await this.database.insert(SubscriptionEntity, { ...subscription, leaseEndsAt: null });
    await this.insertItems(items);
  }

  /** Writes what a decision comes to; whoever did due work has it no longer. */
  async apply(outcome: Outcome): Promise<void> {
    this.database.requireTransaction();
    const { id, ...columns } = outcome.subscription;
    await this.database.update(SubscriptionEntity, id, { ...columns, leaseEndsAt: null });
    const items = this.database.repository(SubscriptionItemEntity);
    if (outcome.itemsRemoved.length > 0) await items.delete([...outcome.itemsRemoved]);
    for (const { id: itemId, ...columns } of outcome.itemsEnded) {
      await items.update(itemId, columns);
    }
    await this.insertItems(outcome.itemsAdded);
    const { periodChanged, periodOpened, scheduled, settled } = outcome;
    if (periodChanged !== null) {
      const { endAt, isClosed } = periodChanged;
      await this.database.update(SubscriptionPeriodEntity, periodChanged.id, { endAt, isClosed });
    }
    if (periodOpened !== null) await this.database.insert(SubscriptionPeriodEntity, periodOpened);
    if (settled !== null) {
      await this.database.update(ScheduledChangeEntity, settled.id, { status: settled.status });
    }
    if (scheduled !== null) await this.database.insert(ScheduledChangeEntity, scheduled);
  }

  /** What waits or waited, newest first. */
  scheduledChanges(subscriptionId: string, request: PageRequest): Promise<Page<ScheduledChange>> {
    const query = this.database
      .repository(ScheduledChangeEntity)
      .createQueryBuilder('change')
      .where('change.subscriptionId = :subscriptionId', { subscriptionId });
    return pageById(query, request);
  }

  findScheduledChange(subscriptionId: string, id: string): Promise<ScheduledChange | null> {
    return this.database.repository(ScheduledChangeEntity).findOneBy({ subscriptionId, id });
  }

  /** Subscriptions with due work by the real clock, in due order, leased to the caller. */
  async claimDue(now: Date, leaseEndsAt: Date, most: number): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string; next_billing_at: Date }>(CLAIM_DUE, [
      now,
      leaseEndsAt,
      most,
    ]);
    return rows
      .sort((one, other) => one.next_billing_at.getTime() - other.next_billing_at.getTime())
      .map(({ id }) => id);
  }

  /** When the next piece of work falls due on a test clock. */
  async nextDueOn(testClockId: string): Promise<Date | null> {
    const [row] = await this.database.query<{ due_at: Date | null }>(NEXT_ON_TEST_CLOCK, [
      testClockId,
    ]);
    return row?.due_at ?? null;
  }

  /** Subscriptions with due work on a test clock, in due order. */
  async dueOn(testClockId: string, now: Date, most: number): Promise<readonly string[]> {
    const rows = await this.database.query<{ id: string }>(DUE_ON_TEST_CLOCK, [
      testClockId,
      now,
      most,
    ]);
    return rows.map(({ id }) => id);
  }

  private async insertItems(items: readonly SubscriptionItem[]): Promise<void> {
    if (items.length > 0) {
      await this.database.repository(SubscriptionItemEntity).insert([...items]);
    }
  }

  private get subscriptions() {
    return this.database.repository(SubscriptionEntity);
  }
}
