import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { UsageBilledEntity } from './usage-billed.entity';

/**
 * Returns SQL that selects the newest bill of each item and period.
 * @param bills FROM items and WHERE condition that select rows of `billed`
 */
const newestOf = (bills: string): string => `
  SELECT billed.subscription_id AS "subscriptionId", billed.terms
  FROM (
    SELECT DISTINCT ON (item_id, period_start_at, period_end_at) billed.* FROM ${bills}
    ORDER BY item_id, period_start_at, period_end_at, up_to_position DESC, id DESC
  ) AS billed
  ORDER BY billed.subscription_id, billed.period_start_at, billed.item_id`;

/** Newest bill of each item and period with late usage (events stored or voided after the bill). */
const LATE = newestOf('usage_billed AS billed WHERE subscription_id = ANY ($1) AND is_late');

const NEWEST = newestOf(`
  unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS one(item, start_at, end_at)
  JOIN usage_billed AS billed ON billed.item_id = one.item AND billed.period_start_at = one.start_at
    AND billed.period_end_at = one.end_at`);

const MARK_LATE = `
  UPDATE usage_billed AS billed SET is_late = $4
  FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS one(item_id, start_at, end_at)
  WHERE billed.item_id = one.item_id AND billed.period_start_at = one.start_at
    AND billed.period_end_at = one.end_at AND billed.is_late <> $4`;

export interface BilledPeriod {
  readonly itemId: string;
  readonly startAt: Date;
  readonly endAt: Date;
}

/** Bill of a period whose usage can be billed again. */
export interface RepeatableBill {
  readonly subscriptionId: string;
  /** Data with which the invoice module bills the period again, as stored with the bill. */
  readonly terms: unknown;
}

@Injectable()
export class UsageBilledRepository {
  constructor(private readonly database: Database) {}

  late(subscriptionIds: readonly string[]): Promise<readonly RepeatableBill[]> {
    return this.database.query<RepeatableBill>(LATE, [subscriptionIds]);
  }

  newest(periods: readonly BilledPeriod[]): Promise<readonly RepeatableBill[]> {
    return this.database.query<RepeatableBill>(NEWEST, columnsOfPeriods(periods));
  }

  async insertAll(rows: readonly UsageBilledEntity[]): Promise<void> {
    this.database.requireTransaction();
    await this.database.insertMany(UsageBilledEntity, rows);
  }

  /**
   * Marks billed periods as having late usage, so that the next invoice corrects them. If `isLate` is false, clears the
   * mark.
   */
  async mark(periods: readonly BilledPeriod[], isLate: boolean): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(MARK_LATE, [...columnsOfPeriods(periods), isLate]);
  }
}

/** Returns the parameters item ids, starts and ends. */
export function columnsOfPeriods(
  periods: readonly BilledPeriod[],
): readonly [readonly string[], readonly Date[], readonly Date[]] {
  return [
    periods.map(({ itemId }) => itemId),
    periods.map(({ startAt }) => startAt),
    periods.map(({ endAt }) => endAt),
  ];
}
