import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { Outbox } from '../../../platform/outbox';
import type { Meter } from '../../meters';
import type { LateUsage } from '../domain/late-usage';
import type { StoredUsageEvent } from '../domain/usage-event';
import { usageEventArchived, usageLateRefused } from '../usage.errors';
import { usageVoided } from '../usage.events';
import { digestOf } from './counted-sql';
import { EventCounts } from './event-counts';
import { LateUsageWriter } from './late-usage-writer';
import { lockMeters } from './meter-locks';
import { StoredEvents } from './stored-events';
import { UsageStreams } from './usage-streams';
import { WindowChanges } from './window-changes';

/**
 * Billed periods that count the event. For a weighted sum, these include later periods, because the value of the event
 * carries over into them.
 */
const BILLED_WITH = `
  SELECT min(id) AS id, meter_id, period_start_at AS start_at, period_end_at AS end_at
  FROM usage_billed
  WHERE stream_id = $1 AND meter_id = ANY($2) AND counted_from_at <= $3 AND period_end_at > $3
  GROUP BY meter_id, period_start_at, period_end_at
  ORDER BY 1`;

const TAKE_POSITION = `
  UPDATE usage_stream SET last_position = last_position + 1 WHERE id = $1 RETURNING last_position AS position`;

const VOID = `
  UPDATE usage_event SET voided_at = $2, voided_position = $3
  WHERE key_digest = ${digestOf('$1::text')} AND voided_at IS NULL`;

interface BilledRow {
  readonly id: string;
  readonly meter_id: string;
  readonly start_at: Date;
  readonly end_at: Date;
}

/** Voids events. A voided event stays stored, is marked, and is no longer counted. */
@Injectable()
export class VoidUsage {
  constructor(
    private readonly database: Database,
    private readonly events: StoredEvents,
    private readonly counts: EventCounts,
    private readonly streams: UsageStreams,
    private readonly windows: WindowChanges,
    private readonly late: LateUsageWriter,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  void(idempotencyKey: string): Promise<StoredUsageEvent> {
    return this.database.transaction(async () => {
      const found = await this.events.get(idempotencyKey);
      await lockMeters(this.database, [found.eventName]);
      const [stream = null] = await this.streams.lock([found], () => [], 'wait');
      // Another transaction may have voided, archived or purged the event while this one waited for the stream.
      const before = await this.events.get(idempotencyKey);
      invariant(stream !== null && stream !== 'busy', 'The stream of a stored event is locked.');
      if (stream.closedBefore !== null && before.timestamp < stream.closedBefore) {
        throw usageEventArchived(idempotencyKey);
      }
      if (before.voidedAt !== null) return before;
      return this.voidLocked(stream.id, before);
    });
  }

  private async voidLocked(stream: string, before: StoredUsageEvent): Promise<StoredUsageEvent> {
    const now = this.clock.now();
    const meters = await this.counts.metersOf(before);
    const late = await this.billedWith(stream, before, [...meters.values()]);
    const after = { ...before, voidedAt: now };
    const { customerId, timestamp } = before;
    const customers = new Map([[stream, customerId]]);
    const position = await this.database.queryValue<string>(TAKE_POSITION, [stream]);
    invariant(position !== null, 'A locked stream exists.');
    await this.database.query(VOID, [before.idempotencyKey, now, position]);
    await this.counts.subtract(before, meters);
    await this.outbox.record(usageVoided, { after, before, occurredAt: now });
    await this.late.write(
      late.map((billed) => lateUsageOf(billed, before)),
      now,
    );
    await this.windows.report({ customers, earliestAt: timestamp, latestAt: timestamp });
    return after;
  }

  /** @throws {ProblemError} `usage_late` if a meter rejects changes of billed periods */
  private async billedWith(
    stream: string,
    event: StoredUsageEvent,
    meters: readonly Meter[],
  ): Promise<readonly BilledRow[]> {
    const billed = await this.database.query<BilledRow>(BILLED_WITH, [
      stream,
      meters.map(({ id }) => id),
      event.timestamp,
    ]);
    const strict = meters.filter(({ lateEvents }) => lateEvents === 'reject');
    const refusing = strict.find(({ id }) => billed.some(({ meter_id }) => meter_id === id));
    if (refusing !== undefined) throw usageLateRefused(event.idempotencyKey, refusing.id);
    return billed;
  }
}

function lateUsageOf(billed: BilledRow, { customerId }: StoredUsageEvent): LateUsage {
  const { id: billedId, meter_id: meterId, start_at: startAt, end_at: endAt } = billed;
  return { billedId, customerId, meterId, period: { startAt, endAt }, events: 1 };
}
