import { Injectable } from '@nestjs/common';
import type { Group } from '../../core/usage';
import { usageArchived } from './usage.errors';
import type { ArchivedMonth } from './domain/archived-month';
import {
  type UsageEventPage,
  type UsageEventPageRequest,
  type UsageQuery,
  type UsageReading,
  UsageStore,
} from './usage-store';

/** Reads usage for pricing. */
@Injectable()
export class UsageService {
  constructor(private readonly store: UsageStore) {}

  /**
   * Returns the exact usage of a period, by group.
   * @throws {ProblemError} `usage_archived`
   */
  read(query: UsageQuery): Promise<UsageReading> {
    return this.store.aggregate(query);
  }

  /**
   * Returns the exact usage of a period over all groups. For a `unique` meter, a value that occurs in several groups counts
   * once.
   * @throws {ProblemError} `usage_archived`
   */
  async readTogether({
    customerId,
    meter,
    period,
    heldSince,
  }: Omit<UsageQuery, 'upToPosition'>): Promise<UsageReading> {
    const query = { customerId, meter, windows: [period], groupBy: [], heldSince };
    const { whole, countedFrom, upToPosition } = await this.store.series(query);
    return { groups: whole, countedFrom, upToPosition };
  }

  /**
   * Returns the events that {@link read} counts for the same query, ordered by timestamp. The result includes earlier
   * events whose values carry over into the period.
   * @param group only the events of this group; null: the events of all groups
   * @throws {ProblemError} `invalid_cursor`
   */
  listCounted(
    query: UsageQuery,
    group: Group | null,
    page: UsageEventPageRequest,
  ): Promise<UsageEventPage> {
    return this.store.listCounted(query, group, page);
  }

  /**
   * Returns, for each query, the archived months with events that {@link read} counts for the query.
   * {@link listCounted} leaves these events out.
   */
  listArchived(queries: readonly UsageQuery[]): Promise<readonly (readonly ArchivedMonth[])[]> {
    return this.store.listArchived(queries);
  }

  /**
   * Requires that none of the events that {@link read} counts for the query is archived.
   * @throws {ProblemError} `usage_archived`
   */
  async requireUnarchived(query: UsageQuery): Promise<void> {
    const last = (await this.store.listArchived([query])).flat().at(-1);
    if (last !== undefined) throw usageArchived(last.endAt);
  }
}
