import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { ingestSlotOf, usageKeyDigest } from '../metering';
import { type RawBalanceRow, toBalanceRecord } from './balance-rows';
import { CONSUME_KNOWN, LOCK, WRITE } from './consumption-sql';
import type { ConsumptionTarget } from './consumptions.repository';
import { toNumeric } from './decimal-column';
import type { ConsumptionDecision } from './domain/consumption';
import type { BalanceRecord } from './domain/customer-entitlement';
import type { ConsumptionEvent } from './metered-usage.service';

/** A balance to lock. */
export interface SharedTarget extends ConsumptionTarget {
  /** Name of the events that the meter of the entitlement counts; null without a meter. */
  readonly eventName: string | null;
}

/** A locked balance, with the locked stream of its meter. */
export interface SharedBalance {
  readonly record: BalanceRecord;
  readonly stream: { readonly id: string; readonly lastPosition: bigint } | null;
  readonly entitlementVersion: number;
}

/** Decided requests of a balance: their answers, and what the allowed ones count. */
export interface SharedWrite {
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
  readonly last_position: string | null;
  readonly entitlement_version: number;
}

/** Returns the balance and its stream after the write. */
export function afterWrite({ balance, after, events }: SharedWrite): SharedBalance {
  const { stream } = balance;
  const record =
    after === null
      ? balance.record
      : { ...after, row: { ...after.row, version: after.row.version + 1 } };
  return {
    ...balance,
    record,
    stream: stream && { ...stream, lastPosition: stream.lastPosition + BigInt(events.length) },
  };
}

/** Locks and writes balances of many customers. */
@Injectable()
export class SharedConsumptionsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Returns the current balance of each target, locked until the transaction ends with the stream of its meter; undefined for
   * one that is to be consumed alone. Never waits.
   */
  async lock(
    targets: readonly SharedTarget[],
    now: Date,
  ): Promise<readonly (SharedBalance | undefined)[]> {
    this.database.requireTransaction();
    const rows = await this.database.prepared<LockedRow>(
      'consumptions-lock',
      LOCK,
      lockParameters(targets, now),
    );
    const found = new Map(rows.map((row) => [Number(row.number), row]));
    return targets.map((_, index) => {
      const row = found.get(index + 1);
      return row === undefined ? undefined : toSharedBalance(row);
    });
  }

  /** Writes answers, usage and events. Returns false if a key was used before: the transaction must then not commit. */
  async write(writes: readonly SharedWrite[], now: Date): Promise<boolean> {
    this.database.requireTransaction();
    const { answers, events, parameters } = writeParameters(writes);
    const [stored] = await this.database.prepared<{ answers: number; events: number }>(
      'consumptions-write',
      WRITE,
      [now, ...parameters],
    );
    return stored?.answers === answers.length && stored.events === events.length;
  }

  /**
   * Locks the balances, unless they have changed since the decisions, and writes them, in one commit of its own. Never waits
   * for a balance.
   * @returns the indexes of the balances that were written
   * @throws {Error} a violated constraint, if a key was used before; nothing is written then
   */
  async consumeKnown(
    writes: readonly (SharedWrite & { readonly target: SharedTarget })[],
    now: Date,
  ): Promise<ReadonlySet<number>> {
    const { answers, balances, events, parameters } = writeParameters(writes);
    const numbers = (rows: readonly { readonly number: number }[]): readonly number[] =>
      rows.map(({ number }) => number);
    const [result] = await this.database.autocommit(() =>
      this.database.prepared<{ numbers: readonly number[] }>('consumptions-known', CONSUME_KNOWN, [
        ...lockParameters(
          writes.map(({ target }) => target),
          now,
        ),
        writes.map(({ balance }) => balance.record.row.id),
        writes.map(({ balance }) => balance.record.row.version),
        writes.map(({ balance }) => balance.entitlementVersion),
        writes.map(({ balance }) => balance.stream?.id),
        writes.map(({ balance }) => balance.stream?.lastPosition),
        ...parameters,
        numbers(answers),
        numbers(balances),
        numbers(events),
      ]),
    );
    return new Set(result?.numbers.map((number) => number - 1));
  }
}

function lockParameters(targets: readonly SharedTarget[], now: Date): readonly unknown[] {
  return [
    targets.map(({ customerId }) => customerId),
    targets.map(({ key }) => key),
    targets.map(({ eventName }) => eventName),
    targets.map(({ eventName }) => (eventName === null ? null : ingestSlotOf(eventName))),
    now,
  ];
}

/** Returns the rows to write, with the number of their balance from 1, and the parameters of the statement. */
function writeParameters(writes: readonly SharedWrite[]) {
  const answers = writes.flatMap(({ balance: { record }, decisions }, index) =>
    decisions.map((decision) => ({ row: record.row, number: index + 1, ...decision })),
  );
  const balances = writes.flatMap(({ after }, index) =>
    after === null ? [] : { ...after.row, number: index + 1 },
  );
  const events = writes.flatMap(({ balance: { stream }, events: ofBalance }, index) =>
    stream === null
      ? []
      : ofBalance.map((event, nth) => ({
          ...event,
          number: index + 1,
          streamId: stream.id,
          position: stream.lastPosition + BigInt(nth + 1),
        })),
  );
  const parameters = [
    answers.map(({ row }) => row.customerId),
    answers.map(({ row }) => row.entitlementId),
    answers.map(({ idempotencyKey }) => idempotencyKey),
    answers.map(({ quantity }) => toNumeric(quantity)),
    JSON.stringify(answers.map(({ answer }) => answer)),
    balances.map(({ id }) => id),
    balances.map(({ used }) => toNumeric(used)),
    balances.map(({ planUsage }) => toNumeric(planUsage)),
    balances.map(({ notifiedThresholds }) => JSON.stringify(notifiedThresholds)),
    events.map(({ streamId }) => streamId),
    events.map(({ position }) => position),
    events.map(({ idempotencyKey }) => usageKeyDigest(idempotencyKey)),
    events.map(({ idempotencyKey }) => idempotencyKey),
    JSON.stringify(events.map(({ properties }) => properties)),
    [...new Set(events.map(({ streamId }) => streamId))],
  ];
  return { answers, balances, events, parameters };
}

function toSharedBalance(row: LockedRow): SharedBalance {
  const { stream_id: id, last_position: position } = row;
  return {
    record: toBalanceRecord(row),
    stream: id === null || position === null ? null : { id, lastPosition: BigInt(position) },
    entitlementVersion: row.entitlement_version,
  };
}
