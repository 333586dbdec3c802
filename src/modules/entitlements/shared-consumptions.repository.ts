import { Injectable } from '@nestjs/common';
import { subtract } from '../../core/decimal';
import { versionAfter } from '../../core/next-version';
import { Database } from '../../platform/database';
import { ingestSlotOf, usageKeyDigest } from '../metering';
import { type RawBalanceRow, toBalanceRecord } from './balance-rows';
import { CONSUME_UNCHANGED, type Counting, LOCK, WRITE } from './consumption-sql';
import type { ConsumptionTarget } from './consumptions.repository';
import { toNumeric } from './decimal-column';
import type { ConsumptionDecision } from './domain/consumption';
import type { BalanceRecord } from './domain/customer-entitlement';
import type { ConsumptionEvent } from './metered-usage.service';

export interface SharedTarget extends ConsumptionTarget {
  /** Name of the events that the meter counts; null if the entitlement has no meter. */
  readonly eventName: string | null;
}

/** The stream of a balance: all usage events of the customer with the event name of the meter. */
interface SharedStream {
  readonly id: string;
  readonly version: string;
  readonly lastPosition: bigint;
  /**
   * Next instant at which a usage window of the stream begins or ends; null if there is none. Events from this instant
   * on count in other windows than events before it.
   */
  readonly changesAt: Date | null;
  /** Aggregation of the meter if its events can be stored in a simpler, faster way; otherwise null. */
  readonly plainAggregation: 'count' | 'sum' | null;
}

/** A balance and its stream, as this process last read or wrote them. */
export interface SharedBalance {
  readonly record: BalanceRecord;
  readonly stream: SharedStream | null;
  /**
   * Sum of `version` and `rulesVersion` of the entitlement. Both only increase, so a change of either changes the sum.
   */
  readonly entitlementVersion: number;
  /** Time at which this process read the balance under a lock. A later write does not change this time. */
  readonly readAt: Date;
}

export interface ConsumptionWrite {
  readonly balance: SharedBalance;
  /** Balance with its new usage; null if no request is allowed. */
  readonly after: BalanceRecord | null;
  readonly decisions: readonly ConsumptionDecision[];
  /** Events of the allowed requests; none without a meter. */
  readonly events: readonly ConsumptionEvent[];
}

interface LockedRow extends RawBalanceRow {
  readonly number: string;
  readonly stream_id: string | null;
  readonly stream_version: string | null;
  readonly last_position: string | null;
  readonly next_change_at: Date | null;
  readonly plain_aggregation: 'count' | 'sum' | null;
  readonly entitlement_version: number;
}

export function afterWrite({ balance, after, events }: ConsumptionWrite): SharedBalance {
  const { stream } = balance;
  const record =
    after === null
      ? balance.record
      : { ...after, row: { ...after.row, version: versionAfter(after.row.version) } };
  return {
    ...balance,
    record,
    stream: stream && { ...stream, lastPosition: stream.lastPosition + BigInt(events.length) },
  };
}

@Injectable()
export class SharedConsumptionsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Locks the balance and the usage stream of each target until the transaction ends. Never waits for a lock. Returns
   * the balances in the order of the targets. Undefined: the balance needs a commit of its own, for example because it
   * is locked.
   */
  async lock(
    targets: readonly SharedTarget[],
    now: Date,
  ): Promise<readonly (SharedBalance | undefined)[]> {
    this.database.requireTransaction();
    const rows = await this.database.queryPrepared<LockedRow>('consumptions-lock', LOCK, [
      targets.map(({ customerId }) => customerId),
      targets.map(({ key }) => key),
      targets.map(({ eventName }) => eventName),
      targets.map(({ eventName }) => (eventName === null ? null : ingestSlotOf(eventName))),
      now,
    ]);
    const found = new Map(rows.map((row) => [Number(row.number), row]));
    return targets.map((_, index) => {
      const row = found.get(index + 1);
      return row === undefined ? undefined : toSharedBalance(row, now);
    });
  }

  /**
   * Writes answers, usage and events. Returns false if an idempotency key already has a stored answer or event. The
   * caller must then roll back.
   */
  async write(writes: readonly ConsumptionWrite[], now: Date): Promise<boolean> {
    this.database.requireTransaction();
    const answers = answersOf(writes);
    const events = eventsOf(writes);
    const balances = writes.flatMap(({ after }) => after?.row ?? []);
    const [stored] = await this.database.queryPrepared<{ answers: number; events: number }>(
      'consumptions-write',
      WRITE,
      [
        now,
        answers.map(({ row }) => row.customerId),
        answers.map(({ row }) => row.entitlementId),
        answers.map(({ idempotencyKey }) => idempotencyKey),
        answers.map(({ quantity }) => toNumeric(quantity)),
        JSON.stringify(answers.map(({ answer }) => answer)),
        balances.map(({ id }) => id),
        balances.map(({ used }) => toNumeric(used)),
        balances.map(({ planUsage }) => toNumeric(planUsage)),
        balances.map(({ notifiedThresholds }) => JSON.stringify(notifiedThresholds)),
        events.map(({ stream }) => stream.id),
        events.map(({ stream, nth }) => stream.lastPosition + BigInt(nth)),
        events.map(({ idempotencyKey }) => usageKeyDigest(idempotencyKey)),
        events.map(({ idempotencyKey }) => idempotencyKey),
        JSON.stringify(events.map(({ properties }) => properties)),
        [...new Set(events.map(({ stream }) => stream.id))],
      ],
    );
    return stored?.answers === answers.length && stored.events === events.length;
  }

  /**
   * Locks the balances and writes the decisions in one commit. Never waits for a lock. Skips balances that are locked,
   * or have changed since they were read. The caller must leave out balances whose usage reaches a threshold, because
   * this method does not record the event of the threshold.
   * @returns the indexes in `writes` of the balances that were written
   * @throws {Error} the constraint violation if an idempotency key already has a stored answer or event. Nothing is
   *   written.
   */
  async consumeUnchanged(
    writes: readonly ConsumptionWrite[],
    now: Date,
  ): Promise<ReadonlySet<number>> {
    const answers = answersOf(writes);
    const rows = writes.map(({ balance }) => balance.record.row);
    const counting = countingOf(writes);
    const [result] = await this.database.autocommit(() =>
      this.database.queryPrepared<{ numbers: readonly number[] }>(
        `consumptions-unchanged-${counting}`,
        CONSUME_UNCHANGED[counting],
        [
          now,
          rows.map(({ id }) => id),
          rows.map(({ version }) => version),
          rows.map(({ customerId }) => customerId),
          rows.map(({ accessVersion }) => accessVersion),
          rows.map(({ entitlementId }) => entitlementId),
          writes.map(({ balance }) => balance.entitlementVersion),
          writes.map(({ after }) => after && toNumeric(after.row.used)),
          writes.map(({ after }) => after && toNumeric(after.row.planUsage)),
          answers.map(({ number }) => number),
          answers.map(({ idempotencyKey }) => idempotencyKey),
          answers.map(({ quantity }) => toNumeric(quantity)),
          JSON.stringify(answers.map(({ answer }) => answer)),
          ...(counting === 'nothing' ? [] : countedParameters(writes)),
        ],
      ),
    );
    return new Set(result?.numbers.map((number) => number - 1));
  }
}

/** Returns the answers for all balances. Each answer has the number of its balance, counted from 1. */
function answersOf(writes: readonly ConsumptionWrite[]) {
  return writes.flatMap(({ balance: { record }, decisions }, index) =>
    decisions.map((decision) => ({ ...decision, row: record.row, number: index + 1 })),
  );
}

/**
 * Returns the events of all balances. Each event has the number of its balance, and its own number within the balance
 * (`nth`). Both are counted from 1.
 */
function eventsOf(writes: readonly ConsumptionWrite[]) {
  return writes.flatMap(({ balance: { stream }, events }, index) =>
    stream === null
      ? []
      : events.map((event, nth) => ({ ...event, stream, number: index + 1, nth: nth + 1 })),
  );
}

function countingOf(writes: readonly ConsumptionWrite[]): Counting {
  const streams = writes.flatMap(({ balance: { stream } }) => stream ?? []);
  if (streams.length === 0) return 'nothing';
  return streams.every(({ plainAggregation }) => plainAggregation !== null) ? 'plain' : 'any';
}

function countedParameters(writes: readonly ConsumptionWrite[]): readonly unknown[] {
  const events = eventsOf(writes);
  const streams = writes.map(({ balance: { stream } }) => stream);
  return [
    streams.map((stream) => stream?.id),
    streams.map((stream) => stream?.version),
    streams.map((stream) => stream?.lastPosition),
    writes.map((write) => write.events.length),
    writes.map(countedTotal),
    writes.map(({ balance }) => balance.record.entitlement.meterId),
    events.map(({ number }) => number),
    events.map(({ nth }) => nth),
    events.map(({ idempotencyKey }) => usageKeyDigest(idempotencyKey)),
    events.map(({ idempotencyKey }) => idempotencyKey),
    JSON.stringify(events.map(({ properties }) => properties)),
  ];
}

/** Returns how much the events add to the total of the meter; 0 unless `plainAggregation` is `sum`. */
function countedTotal({ balance: { record, stream }, after }: ConsumptionWrite): string {
  const isSummed = after !== null && stream?.plainAggregation === 'sum';
  return isSummed ? toNumeric(subtract(after.row.used, record.row.used)) : '0';
}

function toSharedBalance(row: LockedRow, readAt: Date): SharedBalance {
  const { stream_id: id, stream_version: version, last_position: position } = row;
  return {
    record: toBalanceRecord(row),
    stream:
      id === null || version === null || position === null
        ? null
        : {
            id,
            version,
            lastPosition: BigInt(position),
            changesAt: row.next_change_at,
            plainAggregation: row.plain_aggregation,
          },
    entitlementVersion: row.entitlement_version,
    readAt,
  };
}
