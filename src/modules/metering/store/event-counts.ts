import { Injectable } from '@nestjs/common';
import type { Period } from '../../../core/time';
import { Database } from '../../../platform/database';
import { type Meter, MetersService } from '../../meters';
import { hourOf, isHour } from '../domain/hours';
import type { StoredUsageEvent } from '../domain/usage-event';
import { digestOf, GROUP_KEY, IS_COUNTED, METER_READS } from './counted-sql';
import { UsageTotalsWriter } from './usage-totals-writer';

/** SQL of the meters that count an event, each with the group of the event. */
const COUNTED_BY = `
  SELECT meter.id, ${GROUP_KEY} AS group_key
  FROM usage_event AS event JOIN usage_stream AS stream ON stream.id = event.stream_id
  JOIN meter ON meter.event_name = stream.event_name ${METER_READS}
  WHERE event.key_digest = ${digestOf('$1::text')} AND ${IS_COUNTED}`;

const WINDOWS_WITH = `
  SELECT start_at, end_at FROM usage_window
  WHERE stream_id = $1 AND meter_id = $2 AND start_at <= $3 AND end_at > $3
  ORDER BY start_at, end_at`;

/** A meter that counts an event. */
export interface EventCount {
  readonly meter: Meter;
  readonly groupKey: string;
  /** Registered windows (periods with running totals of their own) that contain the event. */
  readonly windows: readonly Period[];
}

/** Finds the totals that include a stored event, and recalculates them. */
@Injectable()
export class EventCounts {
  constructor(
    private readonly database: Database,
    private readonly meters: MetersService,
    private readonly totals: UsageTotalsWriter,
  ) {}

  /** Returns the meters that count an event. The caller has locked the stream of the event. */
  async find(stream: string, event: StoredUsageEvent): Promise<readonly EventCount[]> {
    const rows = await this.database.query<{ id: string; group_key: string }>(COUNTED_BY, [
      event.idempotencyKey,
    ]);
    const meters = await this.meters.getAll(rows.map(({ id }) => id));
    const counts: EventCount[] = [];
    for (const meter of meters.values()) {
      const found = await this.database.query<{ start_at: Date; end_at: Date }>(WINDOWS_WITH, [
        stream,
        meter.id,
        event.timestamp,
      ]);
      counts.push({
        meter,
        groupKey: rows.find(({ id }) => id === meter.id)?.group_key ?? '[]',
        windows: found.map(({ start_at: startAt, end_at: endAt }) => ({ startAt, endAt })),
      });
    }
    return counts;
  }

  /**
   * Recalculates totals without voided events: those of the hour of an event, and those of the registered windows
   * (periods with running totals of their own) that contain it. Changes only the totals of the event's group.
   */
  async recount(
    stream: string,
    event: StoredUsageEvent,
    { meter, groupKey, windows }: EventCount,
  ): Promise<void> {
    const others = windows.filter((period) => !isHour(period));
    for (const period of [hourOf(event.timestamp), ...others]) {
      await this.totals.forgetPeriod(stream, meter, period, groupKey);
      await this.totals.countPeriod(stream, meter, period, groupKey);
    }
  }
}
