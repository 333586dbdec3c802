import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { hourOf } from './counted-sql';
import { eventsOfStreams } from './events-of-streams-sql';
import { MeterBackfillEntity } from './meter-backfill.entity';
import type { StreamHours } from './usage-totals-writer';

export type MeterBackfill = MeterBackfillEntity;

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

/**
 * Selects the hour of the first event at or after $2, and the hour of the event $3 places later. Has one row if there
 * are not so many events.
 */
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
   * Number of stored events of the stream. Too small if the streams together have more than `maxEvents` events, because
   * counting then stops ({@link MeterBackfillsRepository.streamsOf}).
   */
  readonly events: number;
}

/** Stores the progress of backfills (counting of earlier events for a new meter), and finds what to count next. */
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

  /**
   * Locks and returns the backfill with the fewest attempted steps. Skips backfills that other processes have locked.
   * Returns null if none is left.
   */
  lockNext(): Promise<MeterBackfill | null> {
    return this.database.selectOne(MeterBackfillEntity, NEXT, []);
  }

  /** Writes the progress of a locked backfill, and counts the step. */
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

  /** Returns the id of the newest stream of the event name, and an upper limit for the events in all its streams. */
  async extentOf(eventName: string): Promise<{ readonly lastStreamId: string; events: number }> {
    const [row] = await this.database.query<{ lastStreamId: string; events: string }>(EXTENT, [
      eventName,
    ]);
    return { lastStreamId: row?.lastStreamId ?? '0', events: Number(row?.events ?? 0) };
  }

  /**
   * Returns streams of the event name whose ids are in a range, in ascending order.
   * @param maxEvents once more events than this are found, no further events are counted
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

  /**
   * Returns the end of the next range of hours to count in a stream. Returns null if this range has all remaining
   * events. The range starts at `from`, or at the first event if `from` is null. The range is a single hour, or has at
   * most `maxEvents` events.
   */
  async endOfHours(streamId: string, from: Date | null, maxEvents: number): Promise<Date | null> {
    const rows = await this.database.query<{ hour: Date }>(HOURS, [streamId, from, maxEvents]);
    const [first, beyond] = rows.map(({ hour }) => hour.getTime());
    if (first === undefined || beyond === undefined) return null;
    return new Date(beyond > first ? beyond : first + 3_600_000);
  }

  async countEvents({ streams, from, to }: StreamHours): Promise<number> {
    return Number((await this.database.queryValue<string>(COUNT_EVENTS, [streams, from, to])) ?? 0);
  }
}
