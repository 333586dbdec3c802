import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import type { BillableSpan, SubscribedSpan } from './domain/unbillable';

/**
 * Spans in which a customer was subscribed. Includes `incomplete_expired` subscriptions, because nothing bills their
 * usage any more. Leaves out `incomplete` subscriptions.
 */
const SUBSCRIBED = `
  SELECT start_at AS "startAt", ended_at AS "endAt" FROM subscription
  WHERE customer_id = $1 AND status <> 'incomplete'`;

/**
 * Spans in which subscription items of a customer bill the usage of a meter. If an item was planned to start during a
 * pause, its span starts with the first period after the resume. If the subscription ended before such a period, the
 * item is left out.
 */
const SOLD = `
  SELECT greatest(item.start_at, period.start_at) AS "startAt", item.end_at AS "endAt", trial.end_at AS "trialEndAt",
    period.start_at AS "periodStartAt", subscription.status = 'paused' AND period.start_at IS NULL AS "awaitsResume",
    item.is_paused AND subscription.status = 'paused' AS "isPaused", item.planned_end_at AS "plannedEndAt",
    subscription.current_period_end_at AS "currentPeriodEndAt"
  FROM subscription JOIN subscription_item AS item ON item.subscription_id = subscription.id
  LEFT JOIN LATERAL (
    SELECT max(end_at) AS end_at FROM subscription_period WHERE subscription_id = subscription.id AND is_trial
  ) AS trial ON true
  LEFT JOIN LATERAL (
    SELECT start_at FROM subscription_period
    WHERE subscription_id = subscription.id AND end_at > item.start_at ORDER BY start_at LIMIT 1
  ) AS period ON true
  WHERE subscription.customer_id = $1 AND subscription.status <> 'incomplete_expired'
    AND item.price #>> '{usage,meterId}' = $2 AND (subscription.ended_at IS NULL OR period.start_at IS NOT NULL)`;

const OPEN_SINCE = `
  SELECT customer_id AS "customerId", min(coalesce(current_period_start_at, start_at)) AS "startAt"
  FROM subscription
  WHERE customer_id = ANY ($1) AND status NOT IN ('canceled', 'incomplete_expired')
  GROUP BY customer_id`;

const RUNNING = `
  SELECT customer_id AS "customerId", start_at AS "startAt", current_period_start_at AS "periodStartAt",
    time_zone AS "timeZone"
  FROM subscription
  WHERE customer_id = ANY ($1) AND status NOT IN ('canceled', 'incomplete_expired')`;

export interface RunningSubscription {
  readonly customerId: string;
  readonly startAt: Date;
  /** Start of the current period; null before the subscription started. */
  readonly periodStartAt: Date | null;
  readonly timeZone: string;
}

interface SoldRow extends Omit<BillableSpan, 'pause'> {
  readonly isPaused: boolean;
  readonly plannedEndAt: Date | null;
  readonly currentPeriodEndAt: Date | null;
}

/** Finds when customers were subscribed, and when they had a price for the usage of a meter. */
@Injectable()
export class BillableSpansRepository {
  constructor(private readonly database: Database) {}

  /**
   * Returns, by customer id, the start of the earliest current period of the customer's subscriptions. A subscription
   * without a period counts with its own start. Leaves out ended subscriptions.
   */
  async openSince(customerIds: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const rows = await this.database.query<{ customerId: string; startAt: Date }>(OPEN_SINCE, [
      customerIds,
    ]);
    return new Map(rows.map(({ customerId, startAt }) => [customerId, startAt]));
  }

  /** Returns the subscriptions of these customers that have not ended. */
  findRunning(customerIds: readonly string[]): Promise<readonly RunningSubscription[]> {
    return this.database.query<RunningSubscription>(RUNNING, [customerIds]);
  }

  findSubscribedSpans(customerId: string): Promise<readonly SubscribedSpan[]> {
    return this.database.query<SubscribedSpan>(SUBSCRIBED, [customerId]);
  }

  async findBillableSpans(customerId: string, meterId: string): Promise<readonly BillableSpan[]> {
    const rows = await this.database.query<SoldRow>(SOLD, [customerId, meterId]);
    return rows.map(({ isPaused, plannedEndAt, currentPeriodEndAt, ...sold }) => ({
      ...sold,
      pause:
        isPaused && currentPeriodEndAt !== null
          ? { plannedEndAt, periodEndAt: currentPeriodEndAt }
          : null,
    }));
  }
}
