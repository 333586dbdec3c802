import { formatExact, type Rational } from '../../../core/decimal';
import type { CountedSource } from './allowance';
import type { Entitlement } from './entitlement';
import type { Grant } from './grant';
import {
  type AccessFields,
  hasAccess,
  limitOf,
  newlyReached,
  remainingOf,
  type UsageCounter,
} from './entitlement-balance';
import { isSameWindow } from './recalculation';
import type { Reset, ResetWindow } from './reset-window';

/** A plan, add-on or grant that gives a customer an entitlement, as the API shows it. Stored as JSON. */
export interface SourceView {
  readonly type: 'plan' | 'addon' | 'grant';
  readonly id: string;
  /** Null for a grant. */
  readonly subscriptionId: string | null;
  /**
   * Quantity from this source, as a decimal string. For a plan, its value. For an add-on, value times quantity. For a
   * grant, its balance. Null: no limit, or a boolean entitlement.
   */
  readonly value: string | null;
  /** False if an add-on with mode `set` replaces this source. */
  readonly isCounted: boolean;
}

export interface BalanceRow extends AccessFields, Omit<UsageCounter, 'window'> {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  readonly entitlementId: string;
  readonly testClockId: string | null;
  readonly accessVersion: number;
  readonly rulesVersion: number;
  readonly validUntil: Date | null;
  readonly reset: Reset | null;
  readonly windowStartAt: Date | null;
  readonly windowEndAt: Date | null;
  readonly sources: readonly SourceView[];
  readonly dueAt: Date | null;
  readonly leaseEndsAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface BalanceRecord {
  readonly entitlement: Entitlement;
  readonly row: BalanceRow;
}

export interface CachedBalance {
  readonly entitlement: Pick<Entitlement, 'key' | 'type'>;
  readonly row: AccessFields &
    Pick<BalanceRow, 'testClockId' | 'validUntil' | 'windowEndAt' | 'sources'>;
}

/**
 * Returns true if the balance is still valid at `now`. A balance must be recalculated when one of its inputs ends: its
 * window, a grant, a grace period or a subscription.
 */
export function isValidAt(
  { row: { validUntil } }: { readonly row: Pick<BalanceRow, 'validUntil'> },
  now: Date,
): boolean {
  return validUntil === null || validUntil > now;
}

/** State of one entitlement of one customer, as the API shows it. Stored in consumption answers as JSON. */
export interface CustomerEntitlement {
  readonly key: string;
  readonly type: Entitlement['type'];
  readonly hasAccess: boolean;
  /** Decimal string; null: no limit, or a boolean entitlement. */
  readonly limit: string | null;
  /** Usage in the current window, as a decimal string; null unless the entitlement is metered. */
  readonly used: string | null;
  readonly remaining: string | null;
  readonly isOverageAllowed: boolean;
  readonly resetsAt: Date | null;
  readonly sources: readonly SourceView[];
}

export function windowOf({ reset, windowStartAt, windowEndAt }: BalanceRow): ResetWindow | null {
  return reset === null || windowStartAt === null
    ? null
    : { reset, startAt: windowStartAt, endAt: windowEndAt };
}

export function counterOf(row: BalanceRow): UsageCounter {
  const { coveredUntil, used, expiredGrantUsage, planUsage, notifiedThresholds } = row;
  const window = windowOf(row);
  return { window, coveredUntil, used, expiredGrantUsage, planUsage, notifiedThresholds };
}

/**
 * Returns the row of a balance. If the window has changed, keeps only the notified thresholds that usage in the new
 * window has reached.
 */
export function withNotified(record: BalanceRecord, before: BalanceRow): BalanceRow {
  const { row } = record;
  const window = windowOf(row);
  if (window === null || isSameWindow(windowOf(before), window)) return row;
  const reached = { ...record, row: { ...row, notifiedThresholds: [] } };
  const notifiedThresholds = newlyReached(reached, row.notifiedThresholds);
  return { ...row, notifiedThresholds };
}

export function toCustomerEntitlement(balance: CachedBalance): CustomerEntitlement {
  const { entitlement, row } = balance;
  const text = (value: Rational | null): string | null =>
    value === null ? null : formatExact(value);
  return {
    key: entitlement.key,
    type: entitlement.type,
    hasAccess: hasAccess(balance),
    limit: text(limitOf(balance)),
    used: entitlement.type === 'metered' ? formatExact(row.used) : null,
    remaining: text(remainingOf(balance)),
    isOverageAllowed: row.isEntitled && row.isOverageAllowed,
    resetsAt: row.isEntitled ? row.windowEndAt : null,
    sources: row.sources,
  };
}

export function toSourceView(source: CountedSource): SourceView {
  const { kind, subscriptionId, total, isCounted } = source;
  return {
    type: kind,
    id: kind === 'plan' ? source.planId : source.addonId,
    subscriptionId,
    value: total === null ? null : formatExact(total),
    isCounted,
  };
}

export function grantToSourceView({ id, balance }: Pick<Grant, 'id' | 'balance'>): SourceView {
  return {
    type: 'grant',
    id,
    subscriptionId: null,
    value: balance === null ? null : formatExact(balance),
    isCounted: true,
  };
}
