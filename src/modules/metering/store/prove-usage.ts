import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Database } from '../../../platform/database';
import { ArchivedUsage } from '../archive/archived-usage';
import { afterInstant } from '../domain/hours';
import { type CountedBill, outcomeSpans } from '../domain/usage-outcomes';
import { tooManyEventsToProve } from '../usage.errors';
import { hourOf, IS_COUNTED, METER_READS } from './counted-sql';
import { digestKeys } from './digest-keys';
import type { ProofQuery, UsageProof } from '../usage-store';
import { UsageStreams } from './usage-streams';

const MAX_EVENTS = 2_000_000;

const TALLY = `
  SELECT coalesce(sum(duplicates), 0) AS duplicates, coalesce(sum(rejected), 0) AS rejected
  FROM usage_tally
  WHERE stream_id = $1 AND hour >= ${hourOf('$2::timestamptz')} AND hour < $3`;

const IN_PERIOD = 'event.stream_id = $1 AND event.occurred_at >= $2 AND event.occurred_at < $3';

const COUNT = `SELECT count(*) AS accepted FROM usage_event AS event WHERE ${IN_PERIOD}`;

/**
 * Billed periods of subscription items. A period may have several bills. `countedFromAt` is the earliest instant from
 * which one of its bills counted events. `upToPosition` is the highest stream position up to which one of them counted
 * events.
 */
const BILLS = `
  SELECT min(counted_from_at) AS "countedFromAt", period_end_at AS "endAt", max(up_to_position) AS "upToPosition"
  FROM usage_billed
  WHERE stream_id = $1 AND meter_id = $4 AND period_end_at > $2 AND counted_from_at < $3
  GROUP BY item_id, period_start_at, period_end_at`;

/**
 * Numbers of voided, counted, billed and unbillable events over all time spans. OFFSET 0 makes PostgreSQL look up the
 * events of each span by index, however many spans there are.
 */
const OUTCOMES = `
  SELECT count(*) FILTER (WHERE is_voided) AS voided, count(*) FILTER (WHERE is_counted) AS counted,
    count(*) FILTER (WHERE is_counted AND position <= billed_up_to) AS billed,
    count(*) FILTER (WHERE is_counted AND is_unbillable) AS unbillable
  FROM unnest($3::timestamptz[], $4::timestamptz[], $5::bigint[], $6::boolean[])
    AS span(start_at, end_at, billed_up_to, is_unbillable)
  CROSS JOIN LATERAL (
    SELECT event.position, event.voided_at IS NOT NULL AS is_voided,
      event.voided_at IS NULL AND ${IS_COUNTED} AS is_counted
    FROM usage_event AS event CROSS JOIN meter ${METER_READS}
    WHERE meter.id = $2 AND event.stream_id = $1
      AND event.occurred_at >= span.start_at AND event.occurred_at < span.end_at
    OFFSET 0
  ) AS event`;

interface Outcomes {
  readonly voided: string;
  readonly counted: string;
  readonly billed: string;
  readonly unbillable: string;
}

interface BillRow extends Omit<CountedBill, 'upToPosition'> {
  readonly upToPosition: string;
}

/** Makes usage proofs (numbers of events by outcome). The caller's transaction must read from one snapshot. */
@Injectable()
export class ProveUsage {
  constructor(
    private readonly database: Database,
    private readonly streams: UsageStreams,
    private readonly archivedUsage: ArchivedUsage,
  ) {}

  prove({
    customerId,
    meter,
    period,
    unbillable: unbillablePeriods,
  }: ProofQuery): Promise<UsageProof> {
    return this.database.transaction(async () => {
      const stream = await this.streams.idOf({ customerId, eventName: meter.eventName });
      // If there is no stream, the queries get an id that does not exist, and return zeros.
      const { eventName } = meter;
      const [archived = []] = await this.archivedUsage.findMonths([
        { customerId, eventName, period },
      ]);
      const stored = afterInstant(
        period,
        await this.archivedUsage.archiveEndOfStream(stream ?? '0'),
      );
      const inPeriod = [stream ?? '0', stored.startAt, stored.endAt];
      const [count] = await this.database.query<{ accepted: string }>(COUNT, inPeriod);
      if (Number(count?.accepted) > MAX_EVENTS) throw tooManyEventsToProve();
      const [tally] = await this.database.query<{ duplicates: string; rejected: string }>(TALLY, [
        stream ?? '0',
        period.startAt,
        period.endAt,
      ]);
      const bills = await this.database.query<BillRow>(BILLS, [...inPeriod, meter.id]);
      const spans = outcomeSpans(
        stored,
        bills.map((bill) => ({ ...bill, upToPosition: BigInt(bill.upToPosition) })),
        unbillablePeriods,
      );
      const [outcomes] = await this.database.query<Outcomes>(OUTCOMES, [
        stream ?? '0',
        meter.id,
        spans.map(({ startAt }) => startAt),
        spans.map(({ endAt }) => endAt),
        spans.map(({ billedUpTo }) => billedUpTo?.toString() ?? null),
        spans.map(({ isUnbillable }) => isUnbillable),
      ]);
      const { digest, keys } = await digestKeys(this.database, stream ?? '0', stored);
      invariant(tally !== undefined && outcomes !== undefined, 'A count returns a row.');
      invariant(keys === Number(count?.accepted), 'Each accepted event has a key.');
      const [counted, billed] = [BigInt(outcomes.counted), BigInt(outcomes.billed)];
      const unbillable = BigInt(outcomes.unbillable);
      return {
        accepted: BigInt(keys),
        duplicates: BigInt(tally.duplicates),
        rejected: BigInt(tally.rejected),
        voided: BigInt(outcomes.voided),
        counted,
        billed,
        unbillable,
        pending: counted - billed - unbillable,
        digest,
        archived,
      };
    });
  }
}
