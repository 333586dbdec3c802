import { Injectable } from '@nestjs/common';
import { parseExact, type Rational } from '../../core/decimal';
import type { Period } from '../../core/time';
import { Database } from '../../platform/database';
import type { MovedWindow } from '../metering';
import { toNumeric } from './decimal-column';
import type { Held } from './domain/customer-entitlement';
import { HOLDING_COLUMNS, type HeldRow, toHeld } from './held-row';

/** A row whose next window is to be opened. */
export interface DueHolding {
  readonly id: string;
  readonly customerId: string;
  readonly entitlementId: string;
  readonly testClockId: string | null;
}

/** What is counted by a window that moved, with what is used of it now. */
export interface CountedHolding {
  readonly held: Held;
  /** Whether what was resolved still holds. */
  readonly isFresh: boolean;
  readonly used: Rational;
}

/** Whose window spans a period; one that never ends is cut off in the year 9999. */
const SPANS = (startAt: string, endAt: string): string => `
  h.window_start_at = ${startAt} AND coalesce(h.window_end_at, '9999-12-31T00:00:00Z') = ${endAt}`;

const LOCK_COUNTING = `
  SELECT moved.used AS moved_to, e.key, e.type, e.meter_id, e.thresholds, ${HOLDING_COLUMNS},
    h.access_version = a.version AND h.rules_version = e.rules_version AS is_fresh
  FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::numeric[])
    AS moved (customer_id, meter_id, start_at, end_at, used)
  JOIN entitlement e ON e.meter_id = moved.meter_id
  JOIN customer_access a ON a.customer_id = moved.customer_id
  JOIN customer_entitlement h ON h.customer_id = moved.customer_id AND h.entitlement_id = e.id
    AND ${SPANS('moved.start_at', 'moved.end_at')}
  ORDER BY h.id
  FOR NO KEY UPDATE OF h`;

const IS_COUNTED_BY = `
  SELECT FROM customer_entitlement h JOIN entitlement e ON e.id = h.entitlement_id
  WHERE h.customer_id = $1 AND e.meter_id = $2 AND ${SPANS('$3', '$4')} LIMIT 1`;

const DUE_COLUMNS = `
  id, customer_id AS "customerId", entitlement_id AS "entitlementId", test_clock_id AS "testClockId"`;

const CLAIM_DUE = `
  UPDATE customer_entitlement SET lease_ends_at = $2
  WHERE id IN (
    SELECT id FROM customer_entitlement
    WHERE due_at <= $1 AND test_clock_id IS NULL AND (lease_ends_at IS NULL OR lease_ends_at <= $1)
    ORDER BY due_at, id LIMIT $3 FOR UPDATE SKIP LOCKED)
  RETURNING ${DUE_COLUMNS}`;

/** The windows that usage is counted by. */
@Injectable()
export class HoldingWindowsRepository {
  constructor(private readonly database: Database) {}

  /** What is counted by windows that moved, locked until the transaction ends. */
  async lockCounting(windows: readonly MovedWindow[]): Promise<readonly CountedHolding[]> {
    this.database.requireTransaction();
    const rows = await this.database.prepared<
      HeldRow & { readonly moved_to: string; readonly is_fresh: boolean }
    >('holdings-counting', LOCK_COUNTING, [
      windows.map(({ customerId }) => customerId),
      windows.map(({ meterId }) => meterId),
      windows.map(({ period }) => period.startAt),
      windows.map(({ period }) => period.endAt),
      windows.map(({ after }) => toNumeric(after)),
    ]);
    return rows.map((row) => ({
      held: toHeld(row),
      isFresh: row.is_fresh,
      used: parseExact(row.moved_to),
    }));
  }

  /** Whether anything of a customer is counted by a meter in this window. */
  async isCountedBy(customerId: string, meterId: string, period: Period): Promise<boolean> {
    const parameters = [customerId, meterId, period.startAt, period.endAt];
    return (await this.database.query(IS_COUNTED_BY, parameters)).length > 0;
  }

  /** Rows by the real clock whose next window is to be opened, leased to the caller. */
  claimDue(now: Date, leaseEndsAt: Date, most: number): Promise<readonly DueHolding[]> {
    return this.database.query<DueHolding>(CLAIM_DUE, [now, leaseEndsAt, most]);
  }

  /** When the next window is to be opened on a test clock. */
  async nextDueOn(testClockId: string): Promise<Date | null> {
    const [row] = await this.database.query<{ due_at: Date | null }>(
      'SELECT min(due_at) AS due_at FROM customer_entitlement WHERE test_clock_id = $1 AND due_at IS NOT NULL',
      [testClockId],
    );
    return row?.due_at ?? null;
  }

  dueOn(testClockId: string, now: Date, most: number): Promise<readonly DueHolding[]> {
    return this.database.query<DueHolding>(
      `SELECT ${DUE_COLUMNS} FROM customer_entitlement
      WHERE test_clock_id = $1 AND due_at <= $2 ORDER BY due_at, id LIMIT $3`,
      [testClockId, now, most],
    );
  }
}
