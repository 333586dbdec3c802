import { parseExact } from '../../core/decimal';
import type { Glimpse, Held, SourceView } from './domain/customer-entitlement';
import type { EntitlementType } from './domain/entitlement';
import type { Reset } from './domain/reset-window';

/** What a customer has of an entitlement, as `pg` reads it. */
export interface HeldRow {
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

/** As much of it as a check is answered from. */
export type GlimpseRow = Pick<
  HeldRow,
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

/** Named one by one: a prepared statement outlives a column that is added. */
export const HOLDING_COLUMNS = holdingColumns(
  'id, version, customer_id, entitlement_id, test_clock_id, access_version, rules_version, valid_until, is_held',
  'allowance, granted, is_overage_allowed, reset, window_start_at, window_end_at, used, spent, covered, told, sources',
  'due_at, lease_ends_at, created_at, updated_at',
);

/** Of {@link GlimpseRow}. What a column costs to read is small, but a check has little else to do. */
export const GLIMPSE_COLUMNS = holdingColumns(
  'test_clock_id, valid_until, is_held, allowance, granted, is_overage_allowed, window_end_at, used, spent, covered, sources',
);

function holdingColumns(...lists: readonly string[]): string {
  return lists.join(', ').replaceAll(/\b[a-z_]+/g, 'h.$&');
}

export function toGlimpse(key: string, row: GlimpseRow): Glimpse {
  return {
    entitlement: { key, type: row.type },
    row: {
      testClockId: row.test_clock_id,
      validUntil: row.valid_until,
      isHeld: row.is_held,
      allowance: row.allowance === null ? null : parseExact(row.allowance),
      granted: parseExact(row.granted),
      isOverageAllowed: row.is_overage_allowed,
      windowEndAt: row.window_end_at,
      used: parseExact(row.used),
      spent: parseExact(row.spent),
      covered: parseExact(row.covered),
      sources: row.sources,
    },
  };
}

export function toHeld(row: HeldRow): Held {
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
      isHeld: row.is_held,
      allowance: row.allowance === null ? null : parseExact(row.allowance),
      granted: parseExact(row.granted),
      isOverageAllowed: row.is_overage_allowed,
      reset: row.reset,
      windowStartAt: row.window_start_at,
      windowEndAt: row.window_end_at,
      used: parseExact(row.used),
      spent: parseExact(row.spent),
      covered: parseExact(row.covered),
      told: row.told,
      sources: row.sources,
      dueAt: row.due_at,
      leaseEndsAt: row.lease_ends_at,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    },
  };
}
