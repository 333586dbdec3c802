import { parseExact, type Rational } from '../../core/decimal';
import { MAX_VERSION } from '../../core/next-version';
import type { BalanceRecord, BalanceRow, CachedBalance } from './domain/customer-entitlement';
import type { Entitlement } from './domain/entitlement';

/** Fields as the PostgreSQL driver returns them, with decimal numbers as text. */
type Raw<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends Rational | null
    ? string | Extract<Fields[Name], null>
    : Fields[Name];
};

export type RawCachedBalance = Raw<Pick<Entitlement, 'type'> & CachedBalance['row']>;
export type RawBalanceRow = Raw<Omit<Entitlement, 'id'> & BalanceRow>;

/**
 * SQL list of the columns of {@link RawCachedBalance}; `h` is the table alias of the balance, `e` that of its
 * entitlement. Reading only these columns makes the access check measurably cheaper.
 */
export const CACHED_BALANCE_COLUMNS = `
  e.type, h.test_clock_id AS "testClockId", h.valid_until AS "validUntil", h.is_held AS "isEntitled", h.allowance,
  h.granted, h.is_overage_allowed AS "isOverageAllowed", h.window_end_at AS "windowEndAt", h.used,
  h.spent AS "expiredGrantUsage", h.covered AS "planUsage", h.sources`;

/**
 * SQL list of the columns of {@link RawBalanceRow}. Names each column, because a prepared statement with `*` would fail
 * when a column is added.
 */
export const BALANCE_COLUMNS = `
  ${CACHED_BALANCE_COLUMNS}, e.key, e.meter_id AS "meterId", e.thresholds, h.id, h.version,
  h.customer_id AS "customerId", h.entitlement_id AS "entitlementId", h.access_version AS "accessVersion",
  h.rules_version AS "rulesVersion", h.reset, h.window_start_at AS "windowStartAt",
  h.covered_until AS "coveredUntil", h.told AS "notifiedThresholds", h.due_at AS "dueAt",
  h.lease_ends_at AS "leaseEndsAt", h.created_at AS "createdAt", h.updated_at AS "updatedAt"`;

/** SQL for the next version of a balance: 1 higher, or 1 after the maximum. `h` is the table alias. */
export const NEXT_VERSION = `h.version % ${MAX_VERSION} + 1`;

export function toCachedBalance(key: string, row: RawCachedBalance): CachedBalance {
  return {
    entitlement: { key, type: row.type },
    row: cachedFieldsOf(row),
  };
}

function cachedFieldsOf(row: RawCachedBalance): CachedBalance['row'] {
  return {
    testClockId: row.testClockId,
    validUntil: row.validUntil,
    isEntitled: row.isEntitled,
    allowance: row.allowance === null ? null : parseExact(row.allowance),
    granted: parseExact(row.granted),
    isOverageAllowed: row.isOverageAllowed,
    windowEndAt: row.windowEndAt,
    used: parseExact(row.used),
    expiredGrantUsage: parseExact(row.expiredGrantUsage),
    planUsage: parseExact(row.planUsage),
    sources: row.sources,
  };
}

export function toBalanceRecord(row: RawBalanceRow): BalanceRecord {
  const { key, type, meterId, thresholds } = row;
  return {
    entitlement: { id: row.entitlementId, key, type, meterId, thresholds },
    row: {
      id: row.id,
      version: row.version,
      customerId: row.customerId,
      entitlementId: row.entitlementId,
      ...cachedFieldsOf(row),
      accessVersion: row.accessVersion,
      rulesVersion: row.rulesVersion,
      reset: row.reset,
      windowStartAt: row.windowStartAt,
      coveredUntil: row.coveredUntil,
      notifiedThresholds: row.notifiedThresholds,
      dueAt: row.dueAt,
      leaseEndsAt: row.leaseEndsAt,
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    },
  };
}
