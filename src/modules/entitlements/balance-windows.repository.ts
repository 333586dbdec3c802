import { Injectable } from '@nestjs/common';
import { parseExact, type Rational } from '../../core/decimal';
import type { Period } from '../../core/time';
import { FOR_EVER } from '../../core/usage';
import { Database, listOfAnyLength } from '../../platform/database';
import type { ChangedWindow } from '../metering';
import type { DueTable } from '../test-clocks';
import { toNumeric } from './decimal-column';
import type { BalanceRecord } from './domain/customer-entitlement';
import { BALANCE_COLUMNS, NEXT_VERSION, type RawBalanceRow, toBalanceRecord } from './balance-rows';

export interface DueBalance {
  readonly id: string;
  readonly customerId: string;
  readonly entitlementId: string;
  readonly testClockId: string | null;
}

/** A stored balance. `used` is the new usage in its window, which has not been written to the balance yet. */
export interface CountedBalance {
  readonly record: BalanceRecord;
  /**
   * False if the balance must be recalculated, because a subscription of the customer or an add-on link of the
   * entitlement has changed. Ignores `validUntil`, so a current balance may have expired.
   */
  readonly isCurrent: boolean;
  readonly used: Rational;
}

/** An outdated balance. `now` is the time on the customer's clock (real or test). */
export interface BalanceAt {
  readonly record: BalanceRecord;
  readonly now: Date;
}

/** Returns SQL for the end of a window. A window without an end gets {@link FOR_EVER}, as in metering. */
export const windowEnd = (endAt: string): string =>
  `coalesce(${endAt}, '${FOR_EVER.toISOString()}')`;

const windowSpans = (startAt: string, endAt: string): string => `
  h.window_start_at = ${startAt} AND ${windowEnd('h.window_end_at')} = ${endAt}`;

const LOCK_COUNTED = `
  SELECT moved.used AS moved_to, ${BALANCE_COLUMNS},
    h.access_version = a.version AND h.rules_version = e.rules_version AS is_fresh
  FROM unnest(
    ${listOfAnyLength('$1', 'text')}, ${listOfAnyLength('$2', 'text')}, ${listOfAnyLength('$3', 'timestamptz')},
    ${listOfAnyLength('$4', 'timestamptz')}, ${listOfAnyLength('$5', 'numeric')}
  ) AS moved (customer_id, meter_id, start_at, end_at, used)
  JOIN entitlement e ON e.meter_id = moved.meter_id
  JOIN customer_access a ON a.customer_id = moved.customer_id
  JOIN customer_entitlement h ON h.customer_id = moved.customer_id AND h.entitlement_id = e.id
    AND ${windowSpans('moved.start_at', 'moved.end_at')}
  ORDER BY h.id
  FOR NO KEY UPDATE OF h`;

const POSTPONE = `
  UPDATE customer_entitlement h SET access_version = 0, due_at = least(h.due_at, c.at), version = ${NEXT_VERSION}
  FROM unnest(${listOfAnyLength('$1', 'text')}, ${listOfAnyLength('$2', 'timestamptz')}) AS c (id, at)
  WHERE h.id = c.id AND h.access_version <> 0`;

const HAS_BALANCE_IN_WINDOW = `
  SELECT FROM customer_entitlement h JOIN entitlement e ON e.id = h.entitlement_id
  WHERE h.customer_id = $1 AND e.meter_id = $2 AND ${windowSpans('$3', '$4')} LIMIT 1`;

export const DUE_BALANCES: DueTable<DueBalance> = {
  table: 'customer_entitlement',
  dueColumn: 'due_at',
  columns: {
    customerId: 'customer_id',
    entitlementId: 'entitlement_id',
    testClockId: 'test_clock_id',
  },
};

@Injectable()
export class BalanceWindowsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Returns the balances whose usage counts in one of these usage windows, with the new usage of the window. Locks the
   * balances until the transaction ends, in ascending order of id.
   */
  async lockCounted(windows: readonly ChangedWindow[]): Promise<readonly CountedBalance[]> {
    this.database.requireTransaction();
    const rows = await this.database.queryPrepared<
      RawBalanceRow & { readonly moved_to: string; readonly is_fresh: boolean }
    >('balances-counted', LOCK_COUNTED, [
      windows.map(({ customerId }) => customerId),
      windows.map(({ meterId }) => meterId),
      windows.map(({ period }) => period.startAt),
      windows.map(({ period }) => period.endAt),
      windows.map(({ usage }) => toNumeric(usage)),
    ]);
    return rows.map((row) => ({
      record: toBalanceRecord(row),
      isCurrent: row.is_fresh,
      used: parseExact(row.moved_to),
    }));
  }

  /**
   * Marks balances as outdated and due. The next check or background work then recalculates them. Sets their access
   * version to 0, which no customer has, so that no process uses them before that. Otherwise a process whose clock is
   * behind could still use a balance after its window has ended, without the latest usage. The caller must have locked
   * the balances.
   */
  async postpone(balances: readonly BalanceAt[]): Promise<void> {
    this.database.requireTransaction();
    if (balances.length === 0) return;
    await this.database.queryPrepared('balances-postpone', POSTPONE, [
      balances.map(({ record }) => record.row.id),
      balances.map(({ now }) => now),
    ]);
  }

  /** Returns true if the customer has a balance for this meter whose window is exactly this period. */
  async hasBalanceIn(customerId: string, meterId: string, period: Period): Promise<boolean> {
    const parameters = [customerId, meterId, period.startAt, period.endAt];
    return (await this.database.query(HAS_BALANCE_IN_WINDOW, parameters)).length > 0;
  }
}
