import { Injectable } from '@nestjs/common';
import type { Group } from '../../core/usage';
import {
  type EventPage,
  type EventPageRequest,
  type UsageQuery,
  type UsageReading,
  UsageStore,
} from './store/usage-store';

/** Reads usage, for those who price it. */
@Injectable()
export class UsageService {
  constructor(private readonly store: UsageStore) {}

  /** The exact usage of a period, by group. */
  read(query: UsageQuery): Promise<UsageReading> {
    return this.store.aggregate(query);
  }

  /** The exact usage of a period, all groups counted together: a value in two groups is one for `unique`. */
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
   * The events that such a reading counts, what it holds from before its period included, in order of time, page by page.
   * @param group of those of the reading; null: all
   * @throws {ProblemError} `invalid_cursor`
   */
  listCounted(query: UsageQuery, group: Group | null, page: EventPageRequest): Promise<EventPage> {
    return this.store.counted(query, group, page);
  }
}
