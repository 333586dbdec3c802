import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Database } from '../../../platform/database';
import { tooManyEventsToProve } from '../usage.errors';
import { hourOf, IS_COUNTED, METER_READS } from './counted-sql';
import type { UsageProof, UsageQuery } from './usage-store';
import { UsageStreams } from './usage-streams';

const MOST_EVENTS = 2_000_000;
/** Keys read at once. */
const PAGE = 10_000;

const TALLY = `
  SELECT coalesce(sum(duplicates), 0) AS duplicates, coalesce(sum(rejected), 0) AS rejected
  FROM usage_tally
  WHERE stream_id = $1 AND hour >= ${hourOf('$2::timestamptz')} AND hour < $3`;

const IN_PERIOD = 'event.stream_id = $1 AND event.occurred_at >= $2 AND event.occurred_at < $3';

const COUNT = `SELECT count(*) AS accepted FROM usage_event AS event WHERE ${IN_PERIOD}`;

const OUTCOMES = `
  SELECT count(*) FILTER (WHERE is_voided) AS voided, count(*) FILTER (WHERE is_counted) AS counted,
    count(*) FILTER (WHERE is_counted AND EXISTS (
      SELECT FROM usage_billed AS billed
      WHERE billed.stream_id = $1 AND billed.meter_id = $4 AND billed.period_end_at > occurred_at
        AND billed.period_start_at <= occurred_at AND billed.up_to_position >= position
    )) AS billed
  FROM (
    SELECT event.occurred_at, event.position, event.voided_at IS NOT NULL AS is_voided,
      event.voided_at IS NULL AND ${IS_COUNTED} AS is_counted
    FROM usage_event AS event CROSS JOIN meter ${METER_READS}
    WHERE meter.id = $4 AND ${IN_PERIOD}
  ) AS event`;

const OPEN_KEYS = `
  DECLARE usage_keys NO SCROLL CURSOR FOR
  SELECT event.idempotency_key AS key FROM usage_event AS event WHERE ${IN_PERIOD}
  ORDER BY event.occurred_at, event.idempotency_key`;

const NEXT_KEYS = `FETCH ${PAGE} FROM usage_keys`;

interface Outcomes {
  readonly voided: string;
  readonly counted: string;
  readonly billed: string;
}

/** Counts what became of events, and digests their keys page by page, all as it was at one moment. */
@Injectable()
export class ProveUsage {
  constructor(
    private readonly database: Database,
    private readonly streams: UsageStreams,
  ) {}

  prove(query: Omit<UsageQuery, 'upToPosition'>): Promise<UsageProof> {
    return this.database.snapshot(async () => {
      const { customerId, meter, period } = query;
      const stream = await this.streams.idOf({ customerId, eventName: meter.eventName });
      // No stream has this id: what nobody used proves as nothing.
      const inPeriod = [stream ?? '0', period.startAt, period.endAt];
      const [count] = await this.database.query<{ accepted: string }>(COUNT, inPeriod);
      if (Number(count?.accepted) > MOST_EVENTS) throw tooManyEventsToProve();
      const [tally] = await this.database.query<{ duplicates: string; rejected: string }>(
        TALLY,
        inPeriod,
      );
      const [outcomes] = await this.database.query<Outcomes>(OUTCOMES, [...inPeriod, meter.id]);
      const { digest, keys } = await this.digest(inPeriod);
      invariant(tally !== undefined && outcomes !== undefined, 'Counting gives a row.');
      invariant(keys === Number(count?.accepted), 'Each event that was accepted has its key.');
      const [counted, billed] = [BigInt(outcomes.counted), BigInt(outcomes.billed)];
      return {
        accepted: BigInt(keys),
        duplicates: BigInt(tally.duplicates),
        rejected: BigInt(tally.rejected),
        voided: BigInt(outcomes.voided),
        counted,
        billed,
        pending: counted - billed,
        digest,
      };
    });
  }

  private async digest(
    inPeriod: readonly unknown[],
  ): Promise<{ readonly digest: string; readonly keys: number }> {
    const hash = createHash('sha256');
    let keys = 0;
    await this.database.query(OPEN_KEYS, inPeriod);
    for (;;) {
      const page = await this.database.query<{ key: string }>(NEXT_KEYS);
      if (page.length === 0) break;
      keys += page.length;
      hash.update(page.map(({ key }) => `${key}\n`).join(''));
    }
    return { digest: hash.digest('hex'), keys };
  }
}
