import { parseExact } from '../../core/decimal';
import { MAX_VERSION } from '../../core/next-version';
import type { CachedBalance, BalanceRecord, SourceView } from './domain/customer-entitlement';
import type { EntitlementType } from './domain/entitlement';
import type { Reset } from './domain/reset-window';

/** A balance and fields of its entitlement, as the PostgreSQL driver returns them. */
export interface RawBalanceRow {
  readonly key: string;
  readonly type: EntitlementType;
  readonly meter_id: string | null;
  readonly thresholds: readonly number[];
  readonly id: string;
  readonly version: number;
  readonly customer_id: string;
  readonly entitlement_id: string;
  readonly test_clock_id: string | null;
  readonly access_version: number;
  readonly rules_version: number;
  readonly valid_until: Date | null;
  readonly is_held: boolean;
  readonly allowance: string | null;
  readonly granted: string;
  readonly is_overage_allowed: boolean;
  readonly reset: Reset | null;
  readonly window_start_at: Date | null;
  readonly window_end_at: Date | null;
  readonly covered_until: Date | null;
  readonly used: string;
  readonly spent: string;
  readonly covered: string;
  readonly told: readonly number[];
  readonly sources: readonly SourceView[];
  readonly due_at: Date | null;
  readonly lease_ends_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** Columns of a balance that the access check needs. */
export type RawCachedBalance = Pick<
  RawBalanceRow,
  | 'type'
  | 'test_clock_id'
  | 'valid_until'
  | 'is_held'
  | 'allowance'
  | 'granted'
  | 'is_overage_allowed'
  | 'window_end_at'
  | 'used'
  | 'spent'
  | 'covered'
  | 'sources'
>;

/**
 * SQL list of the columns of a balance; `h` is the table alias. Names each column, because a prepared statement with
 * `*` would fail when a column is added.
 */
export const BALANCE_COLUMNS = balanceColumns(
  'id, version, customer_id, entitlement_id, test_clock_id, access_version, rules_version, valid_until, is_held',
  'allowance, granted, is_overage_allowed, reset, window_start_at, window_end_at, used, spent, covered, told, sources',
  'covered_until, due_at, lease_ends_at, created_at, updated_at',
);

/**
 * SQL list of the columns of {@link RawCachedBalance}. Reading only these columns makes the access check measurably
 * cheaper.
 */
export const CACHED_BALANCE_COLUMNS = balanceColumns(
  'test_clock_id, valid_until, is_held, allowance, granted, is_overage_allowed, window_end_at, used, spent, covered, sources',
);

/** SQL for the version of a balance after a change, like `versionAfter`; `h` is the table alias. */
export const NEXT_VERSION = `h.version % ${MAX_VERSION} + 1`;

function balanceColumns(...lists: readonly string[]): string {
  return lists.join(', ').replaceAll(/\b[a-z_]+/g, 'h.$&');
}

export function toCachedBalance(key: string, row: RawCachedBalance): CachedBalance {
  return {
    entitlement: { key, type: row.type },
    row: {
      testClockId: row.test_clock_id,
      validUntil: row.valid_until,
      isEntitled: row.is_held,
      allowance: row.allowance === null ? null : parseExact(row.allowance),
      granted: parseExact(row.granted),
      isOverageAllowed: row.is_overage_allowed,
      windowEndAt: row.window_end_at,
      used: parseExact(row.used),
      expiredGrantUsage: parseExact(row.spent),
      planUsage: parseExact(row.covered),
      sources: row.sources,
    },
  };
}

export function toBalanceRecord(row: RawBalanceRow): BalanceRecord {
  const { key, type, meter_id: meterId, thresholds } = row;
  return {
    entitlement: { id: row.entitlement_id, key, type, meterId, thresholds },
    row: {
      id: row.id,
      version: row.version,
      customerId: row.customer_id,
      entitlementId: row.entitlement_id,
      testClockId: row.test_clock_id,
      accessVersion: row.access_version,
      rulesVersion: row.rules_version,
      validUntil: row.valid_until,
      isEntitled: row.is_held,
      allowance: row.allowance === null ? null : parseExact(row.allowance),
      granted: parseExact(row.granted),
      isOverageAllowed: row.is_overage_allowed,
      reset: row.reset,
      windowStartAt: row.window_start_at,
      windowEndAt: row.window_end_at,
      coveredUntil: row.covered_until,
      used: parseExact(row.used),
      expiredGrantUsage: parseExact(row.spent),
      planUsage: parseExact(row.covered),
      notifiedThresholds: row.told,
      sources: row.sources,
      dueAt: row.due_at,
      leaseEndsAt: row.lease_ends_at,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    },
  };
}
