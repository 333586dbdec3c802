import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { ZERO } from '../../../core/decimal';
import type { Period } from '../../../core/time';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { Outbox } from '../../../platform/outbox';
import { hourOf, isHour } from '../domain/hours';
import type { LateUsage } from '../domain/late-usage';
import type { StoredUsageEvent } from '../domain/usage-event';
import { type Meter, MetersService } from '../../meters';
import { type ChangedWindow, UsageHooks } from '../usage-hooks';
import { usageVoided } from '../usage.events';
import { usageEventNotFound, usageLateRefused } from '../usage.errors';
import { digestOf, GROUP_KEY, IS_COUNTED, METER_READS } from './counted-sql';
import { LateUsageWriter } from './late-usage-writer';
import { lockMeters } from './meter-locks';
import { StoredEvents } from './stored-events';
import { UsageStreams } from './usage-streams';
import { UsageTotalsWriter } from './usage-totals-writer';
import { type UsageWindow, UsageWindows } from './usage-windows';

/** Meters that count the event, with its group. */
const COUNTED_BY = `
  SELECT meter.id, ${GROUP_KEY} AS group_key
  FROM usage_event AS event JOIN usage_stream AS stream ON stream.id = event.stream_id
  JOIN meter ON meter.event_name = stream.event_name ${METER_READS}
  WHERE event.key_digest = ${digestOf('$1::text')} AND ${IS_COUNTED}`;

/** Billed periods that count the event; a weighted sum holds its value in later periods too. */
const BILLED_WITH = `
  SELECT min(id) AS id, meter_id, period_start_at AS start_at, period_end_at AS end_at
  FROM usage_billed
  WHERE stream_id = $1 AND meter_id = ANY($2) AND counted_from_at <= $3 AND period_end_at > $3
  GROUP BY meter_id, period_start_at, period_end_at
  ORDER BY 1`;

const WINDOWS_WITH = `
  SELECT start_at, end_at FROM usage_window
  WHERE stream_id = $1 AND meter_id = $2 AND start_at <= $3 AND end_at > $3
  ORDER BY start_at, end_at`;

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

/** A meter that counts the event, with the group and the registered windows of the event. */
interface Counting {
  readonly meter: Meter;
  readonly groupKey: string;
  readonly windows: readonly UsageWindow[];
}

/** Voids events: they are kept, marked, and no longer counted. */
@Injectable()
export class VoidUsage {
  constructor(
    private readonly database: Database,
    private readonly meters: MetersService,
    private readonly events: StoredEvents,
    private readonly streams: UsageStreams,
    private readonly totals: UsageTotalsWriter,
    private readonly windows: UsageWindows,
    private readonly hooks: UsageHooks,
    private readonly late: LateUsageWriter,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  void(idempotencyKey: string): Promise<StoredUsageEvent> {
    return this.database.transaction(async () => {
      const found = await this.events.find(idempotencyKey);
      if (found === null) throw usageEventNotFound(idempotencyKey);
      if (found.voidedAt !== null) return found;
      await lockMeters(this.database, [found.eventName]);
      const stream = await this.streams.lockOne(found);
      const before = await this.events.find(idempotencyKey);
      invariant(before !== null, 'A stored event exists.');
      // Another transaction may have voided it while this one waited for the stream.
      if (before.voidedAt !== null) return before;
      return this.voidLocked(stream, before);
    });
  }

  private async voidLocked(stream: string, before: StoredUsageEvent): Promise<StoredUsageEvent> {
    const now = this.clock.now();
    const counting = await this.countingOf(stream, before);
    const late = await this.billedWith(stream, before, counting);
    const after = { ...before, voidedAt: now };
    const windows = counting.flatMap((one) => one.windows);
    const valuesBefore = await this.windows.read(windows);
    const [taken] = await this.database.query<{ position: string }>(TAKE_POSITION, [stream]);
    invariant(taken !== undefined, 'A locked stream exists.');
    await this.database.query(VOID, [before.idempotencyKey, now, taken.position]);
    for (const one of counting) await this.uncount(stream, before, one);
    await this.outbox.record(usageVoided, { after, before, occurredAt: now });
    await this.late.write(
      late.map((billed) => lateUsageOf(billed, before)),
      now,
    );
    const valuesAfter = await this.windows.read(windows);
    await this.hooks.run(
      windows.map(({ customerId, meter, period }, index): ChangedWindow => {
        const [was, is] = [valuesBefore[index] ?? ZERO, valuesAfter[index] ?? ZERO];
        return { customerId, meterId: meter.id, period, before: was, after: is };
      }),
    );
    return after;
  }

  private async countingOf(stream: string, event: StoredUsageEvent): Promise<readonly Counting[]> {
    const rows = await this.database.query<{ id: string; group_key: string }>(COUNTED_BY, [
      event.idempotencyKey,
    ]);
    const meters = await this.meters.getAll(rows.map(({ id }) => id));
    const counting: Counting[] = [];
    for (const meter of meters.values()) {
      const found = await this.database.query<{ start_at: Date; end_at: Date }>(WINDOWS_WITH, [
        stream,
        meter.id,
        event.timestamp,
      ]);
      counting.push({
        meter,
        groupKey: rows.find(({ id }) => id === meter.id)?.group_key ?? '[]',
        windows: found.map(({ start_at: startAt, end_at: endAt }) => {
          return { customerId: event.customerId, meter, period: { startAt, endAt } };
        }),
      });
    }
    return counting;
  }

  /** @throws {ProblemError} `usage_late` if a meter rejects changes of billed periods */
  private async billedWith(
    stream: string,
    event: StoredUsageEvent,
    counting: readonly Counting[],
  ): Promise<readonly BilledRow[]> {
    const meters = counting.map(({ meter }) => meter);
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

  /** Recounts the hour and then the windows of the event, for its group, without the event. */
  private async uncount(
    stream: string,
    event: StoredUsageEvent,
    { meter, groupKey, windows }: Counting,
  ): Promise<void> {
    const others = windows.map(({ period }) => period).filter((period) => !isHour(period));
    const periods: readonly Period[] = [hourOf(event.timestamp), ...others];
    for (const period of periods) {
      await this.totals.forgetPeriod(stream, meter, period, groupKey);
      await this.totals.countPeriod(stream, meter, period, groupKey);
    }
  }
}

function lateUsageOf(billed: BilledRow, { customerId }: StoredUsageEvent): LateUsage {
  const { id: billedId, meter_id: meterId, start_at: startAt, end_at: endAt } = billed;
  return { billedId, customerId, meterId, period: { startAt, endAt }, events: 1 };
}
