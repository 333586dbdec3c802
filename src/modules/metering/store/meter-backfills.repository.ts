import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { hourOf } from './counted-sql';
import { eventsOfStreams } from './events-of-streams-sql';
import { MeterBackfillEntity } from './meter-backfill.entity';
import type { StreamHours } from './usage-totals-writer';

export type MeterBackfill = MeterBackfillEntity;

/** Selects the backfill with the fewest steps. Skips backfills that another process has locked. */
const NEXT = 'ORDER BY steps, meter_id LIMIT 1 FOR UPDATE SKIP LOCKED';

const UPDATE = `
  UPDATE meter_backfill SET older_transactions = $2, last_stream_id = $3, next_stream_id = $4, next_hour = $5,
    steps = steps + 1
  WHERE meter_id = $1`;

const EXTENT = `
  SELECT coalesce(max(id), 0) AS "lastStreamId", coalesce(sum(last_position), 0) AS events
  FROM usage_stream WHERE event_name = $1`;

const STREAMS = `
  WITH page AS MATERIALIZED (
    SELECT id FROM usage_stream WHERE event_name = $1 AND id >= $2 AND id <= $3 ORDER BY id LIMIT $4
  )
  SELECT page.id, coalesce(counted.events, 0) AS events
  FROM page LEFT JOIN (${eventsOfStreams('page', "'-infinity'", "'infinity'")}) AS counted USING (id)
  ORDER BY page.id`;

const LOCK_FIRST = 'SELECT id FROM usage_stream WHERE id = $1 FOR UPDATE';

const LOCK_FREE = `
  SELECT id FROM usage_stream WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE SKIP LOCKED`;

/** Selects the hour of the first event at or after $2, and the hour of the event that comes $3 events later. */
const HOURS = `
  SELECT ${hourOf('occurred_at')} AS hour FROM (
    (SELECT occurred_at FROM usage_event
     WHERE stream_id = $1 AND occurred_at >= coalesce($2::timestamptz, '-infinity') ORDER BY occurred_at LIMIT 1)
    UNION ALL
    (SELECT occurred_at FROM usage_event
     WHERE stream_id = $1 AND occurred_at >= coalesce($2::timestamptz, '-infinity')
     ORDER BY occurred_at OFFSET $3 LIMIT 1)
  ) AS event ORDER BY occurred_at`;

const COUNT_EVENTS = `
  SELECT count(*) AS events FROM usage_event
  WHERE stream_id = ANY($1::bigint[]) AND occurred_at >= coalesce($2::timestamptz, '-infinity')
    AND occurred_at < coalesce($3::timestamptz, 'infinity')`;

export interface StreamExtent {
  readonly id: string;
  /**
   * Number of stored events of the stream. Counting stops when all streams together have more than `maxEvents` events
   * (see {@link MeterBackfillsRepository.streamsOf}), so the number can be too small.
   */
  readonly events: number;
}

/** Stores the progress of backfills, and finds the streams and hours to count next. */
@Injectable()
export class MeterBackfillsRepository {
  constructor(private readonly database: Database) {}

  async insert(meterId: string): Promise<void> {
    await this.database.insert(MeterBackfillEntity, {
      meterId,
      olderTransactions: null,
      lastStreamId: null,
      nextStreamId: '0',
      nextHour: null,
      steps: 0,
    });
  }

  /** Locks and returns the backfill with the fewest steps; null if there is none that no other process has locked. */
  lockNext(): Promise<MeterBackfill | null> {
    return this.database.selectOne(MeterBackfillEntity, NEXT, []);
  }

  /** Writes the progress of a locked backfill after a step. */
  async advance(backfill: MeterBackfill): Promise<void> {
    const { meterId, olderTransactions, lastStreamId, nextStreamId, nextHour } = backfill;
    await this.database.query(UPDATE, [
      meterId,
      olderTransactions,
      lastStreamId,
      nextStreamId,
      nextHour,
    ]);
  }

  /** Counts a failed step as attempted, so that steps of other backfills run first. */
  async postpone(meterId: string): Promise<void> {
    await this.database.query('UPDATE meter_backfill SET steps = steps + 1 WHERE meter_id = $1', [
      meterId,
    ]);
  }

  async remove(meterId: string): Promise<void> {
    await this.database.query('DELETE FROM meter_backfill WHERE meter_id = $1', [meterId]);
  }

  /** Returns the id of the last stream of the event name, and an upper bound on the number of events in all its streams. */
  async extentOf(eventName: string): Promise<{ readonly lastStreamId: string; events: number }> {
    const [row] = await this.database.query<{ lastStreamId: string; events: string }>(EXTENT, [
      eventName,
    ]);
    return { lastStreamId: row?.lastStreamId ?? '0', events: Number(row?.events ?? 0) };
  }

  /**
   * Returns streams of the event name in a range of ids, in order.
   * @param maxEvents the number of events at which counting stops
   */
  async streamsOf(
    eventName: string,
    range: { readonly from: string; readonly to: string; readonly limit: number },
    maxEvents: number,
  ): Promise<readonly StreamExtent[]> {
    const rows = await this.database.query<{ id: string; events: string }>(STREAMS, [
      eventName,
      range.from,
      range.to,
      range.limit,
      maxEvents,
    ]);
    return rows.map(({ id, events }) => ({ id, events: Number(events) }));
  }

  /** Locks a stream until the transaction ends. Returns false if it was purged. */
  async lockFirst(streamId: string): Promise<boolean> {
    return (await this.database.query(LOCK_FIRST, [streamId])).length > 0;
  }

  /** Locks the streams that are not locked by other transactions. Returns their ids. */
  async lockFree(streamIds: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(await this.database.queryValues<string>(LOCK_FREE, [streamIds]));
  }

  /**
   * Returns the end of the next range of hours to count in a stream. The range starts at `from` or, if `from` is null,
   * at the first event. It has at most `maxEvents` events, unless a single hour has more. Returns null if the range
   * contains all remaining events of the stream.
   */
  async endOfHours(streamId: string, from: Date | null, maxEvents: number): Promise<Date | null> {
    const rows = await this.database.query<{ hour: Date }>(HOURS, [streamId, from, maxEvents]);
    const [first, beyond] = rows.map(({ hour }) => hour.getTime());
    if (first === undefined || beyond === undefined) return null;
    return new Date(beyond > first ? beyond : first + 3_600_000);
  }

  /** Returns the number of stored events in a range of hours. */
  async countEvents({ streams, from, to }: StreamHours): Promise<number> {
    return Number((await this.database.queryValue<string>(COUNT_EVENTS, [streams, from, to])) ?? 0);
  }
}
