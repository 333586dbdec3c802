import { Injectable } from '@nestjs/common';
import type { Period } from '../../core/time';
import { Database, ListQuery, type Page, type PageRequest } from '../../platform/database';
import type { LastChange, MrrChange, MrrChangeFilter, MrrSum } from './domain/mrr-change';
import { MrrChangeEntity } from './mrr-change.entity';

const LAST = `
  SELECT wanted.id AS "subscriptionId", last.*
  FROM unnest($1::text[]) AS wanted (id) CROSS JOIN LATERAL (
    SELECT sequence, after_minor AS "afterMinor", changed_at AS "changedAt" FROM mrr_change
    WHERE subscription_id = wanted.id ORDER BY sequence DESC LIMIT 1) AS last`;

const SUMS = `
  SELECT subscription_id AS id, sum(after_minor - before_minor)::text AS amount
  FROM mrr_change WHERE subscription_id = ANY ($1) GROUP BY subscription_id`;

const WINDOWS = `
  SELECT currency, width_bucket(changed_at, $1::timestamptz[]) AS window, kind,
    sum(after_minor - before_minor)::text AS amount, count(*)::integer AS changes
  FROM mrr_change WHERE changed_at < $2 AND ($3::varchar IS NULL OR currency = $3)
  GROUP BY 1, 2, 3`;

/** Finds ended subscriptions that still have recurring revenue, which is a defect. */
const EARNING_AFTER_END = `
  SELECT subscription_id AS id FROM mrr_change JOIN subscription ON subscription.id = subscription_id
  WHERE status IN ('canceled', 'incomplete_expired')
  GROUP BY subscription_id HAVING sum(after_minor - before_minor) <> 0
  ORDER BY subscription_id LIMIT $1`;

/**
 * Finds changes whose `before_minor` is not the `after_minor` of the previous change (0 for the first change). Also
 * finds changes whose sequence is not 1, 2, 3 and so on.
 */
export const BROKEN_CHAINS = `
  SELECT subscription_id || ' ' || sequence || ': before ' || before_minor || ', expected ' || expected
  FROM (
    SELECT subscription_id, sequence, before_minor, row_number() OVER changes AS position,
      coalesce(lag(after_minor) OVER changes, 0) AS expected
    FROM mrr_change WINDOW changes AS (PARTITION BY subscription_id ORDER BY sequence)
  ) AS change
  WHERE before_minor <> expected OR sequence <> position
  ORDER BY 1 LIMIT $1`;

const LAST_CHANGED_FIRST = { column: 'changed_at', isAscending: false } as const;

@Injectable()
export class MrrChangesRepository {
  constructor(private readonly database: Database) {}

  /** Returns the newest change of each subscription, by its id. The caller must have locked the subscriptions. */
  async findLast(subscriptionIds: readonly string[]): Promise<ReadonlyMap<string, LastChange>> {
    this.database.requireTransaction();
    const rows = await this.database.query<
      Omit<LastChange, 'afterMinor'> & { readonly afterMinor: string }
    >(LAST, [subscriptionIds]);
    return new Map(
      rows.map((row) => [row.subscriptionId, { ...row, afterMinor: BigInt(row.afterMinor) }]),
    );
  }

  async insertAll(changes: readonly MrrChange[]): Promise<void> {
    await this.database.insertMany(MrrChangeEntity, changes);
  }

  /** Returns the recorded recurring revenue of each subscription in minor units: the sum of its changes. */
  async sumBySubscription(
    subscriptionIds: readonly string[],
  ): Promise<ReadonlyMap<string, bigint>> {
    const rows = await this.database.query<{ readonly id: string; readonly amount: string }>(SUMS, [
      subscriptionIds,
    ]);
    return new Map(rows.map(({ id, amount }) => [id, BigInt(amount)]));
  }

  async sumByWindow(
    windows: readonly Period[],
    currency: string | null,
  ): Promise<readonly MrrSum[]> {
    const starts = windows.map(({ startAt }) => startAt);
    const rows = await this.database.query<
      Omit<MrrSum, 'amountMinor'> & { readonly amount: string }
    >(WINDOWS, [starts, windows.at(-1)?.endAt, currency]);
    return rows.map(({ amount, ...row }) => ({ ...row, amountMinor: BigInt(amount) }));
  }

  page(
    { customerId, currency, kinds, changed }: MrrChangeFilter,
    request: PageRequest,
  ): Promise<Page<MrrChange>> {
    return new ListQuery('mrr_change', 'id', LAST_CHANGED_FIRST)
      .where('customer_id = $', customerId)
      .where('currency = $', currency)
      .whereOneOf('kind', kinds)
      .whereBetween('changed_at', changed)
      .page(this.database, MrrChangeEntity, request);
  }

  findEarningAfterEnd(limit: number): Promise<readonly string[]> {
    return this.database.queryValues<string>(EARNING_AFTER_END, [limit]);
  }
}
