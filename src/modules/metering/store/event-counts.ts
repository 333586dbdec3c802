import { Injectable } from '@nestjs/common';
import type { Period } from '../../../core/time';
import { Database } from '../../../platform/database';
import { type Meter, MetersService } from '../../meters';
import type { StoredUsageEvent } from '../domain/usage-event';
import { isHourSql, SUBTRACT_FROM_BUCKETS } from './bucket-sql';
import { countedOf, digestOf } from './counted-sql';
import { UsageTotalsWriter } from './usage-totals-writer';

/** CTE `counted`: the event with the key $1, once for each meter that counts it. */
const COUNTED = `
  counted AS MATERIALIZED (${countedOf(
    `usage_event AS event JOIN usage_stream AS stream ON stream.id = event.stream_id
      JOIN meter ON meter.event_name = stream.event_name`,
    `event.key_digest = ${digestOf('$1::text')}`,
  )})`;

const METERS_OF_EVENT = `WITH ${COUNTED} SELECT meter_id FROM counted`;

/**
 * Subtracts the event, and returns the changed totals. Hours come first, because the totals of a window are counted
 * again from the totals of its hours.
 */
const SUBTRACT = `
  WITH ${COUNTED}, ${SUBTRACT_FROM_BUCKETS}
  SELECT stream_id AS "streamId", meter_id AS "meterId", start_at AS "startAt", end_at AS "endAt", group_key AS "groupKey",
    events = 0 AS "isEmpty", is_extreme AS "isExtreme", value_digest AS "valueDigest"
  FROM updated ORDER BY ${isHourSql('start_at', 'end_at')} DESC, start_at, end_at, meter_id`;

/** Statement timeout for counting totals again or searching for a value: an hour may have very many events. */
const LONG_COUNT = { statementMs: 600_000 };

/** Totals of an hour or window, for one meter and group, from which an event was subtracted. */
interface SubtractedRow extends Period {
  readonly streamId: string;
  readonly meterId: string;
  readonly groupKey: string;
  /** True if no event is left in the totals. */
  readonly isEmpty: boolean;
  /** True if the greatest or latest value of the totals may come from the subtracted event. */
  readonly isExtreme: boolean;
  /** For the aggregation `unique`, digest of the value of the subtracted event; otherwise null. */
  readonly valueDigest: string | null;
}

/** Finds the meters that count a stored event, and takes the event out of their totals. */
@Injectable()
export class EventCounts {
  constructor(
    private readonly database: Database,
    private readonly meters: MetersService,
    private readonly totals: UsageTotalsWriter,
  ) {}

  /** Returns the meters that count an event. The caller has locked the stream of the event. */
  async metersOf({ idempotencyKey }: StoredUsageEvent): Promise<ReadonlyMap<string, Meter>> {
    const ids = await this.database.queryValues<string>(METERS_OF_EVENT, [idempotencyKey]);
    return this.meters.getAll(ids);
  }

  /**
   * Takes a voided event out of the totals of its hour and of the registered windows (periods with running totals of
   * their own) that contain it. Subtracts counts and sums. Reads other events only if the event had the greatest or
   * latest value, or if the meter aggregates by `unique`. The caller has locked the stream of the event.
   * @param meters the meters that count the event, by id
   */
  async subtract(
    { idempotencyKey }: StoredUsageEvent,
    meters: ReadonlyMap<string, Meter>,
  ): Promise<void> {
    const rows = await this.database.query<SubtractedRow>(SUBTRACT, [idempotencyKey]);
    if (rows.some(readsEvents)) await this.database.setTransactionTimeouts(LONG_COUNT);
    /**
     * By meter id, a period in which another event has the same value. Every period that contains this period keeps the
     * value.
     */
    const keeping = new Map<string, Period>();
    for (const {
      streamId,
      meterId,
      groupKey,
      isEmpty,
      isExtreme,
      valueDigest,
      ...period
    } of rows) {
      const meter = meters.get(meterId);
      if (meter === undefined) continue;
      if (isEmpty || isExtreme) await this.totals.forgetPeriod(streamId, meter, period, groupKey);
      if (isEmpty) continue;
      if (isExtreme) await this.totals.countPeriod(streamId, meter, period, groupKey);
      const kept = keeping.get(meterId);
      const isKept =
        kept !== undefined && period.startAt <= kept.startAt && kept.endAt <= period.endAt;
      if (valueDigest === null || isKept) continue;
      const value = { groupKey, valueDigest };
      const isForgotten = await this.totals.forgetValue(streamId, meter, period, value);
      if (!isForgotten) keeping.set(meterId, period);
    }
  }
}

const readsEvents = ({ isEmpty, isExtreme, valueDigest }: SubtractedRow): boolean =>
  !isEmpty && (isExtreme || valueDigest !== null);
