import { formatExact, type Rational } from '../../../core/decimal';
import type { CountedSource } from './allowance';
import type { Entitlement } from './entitlement';
import type { Grant } from './grant';
import { type Balance, hasAccess, type Holding, limitOf, remainingOf } from './holding';
import type { Reset, ResetWindow } from './reset-window';

/** Where a part of what a customer has comes from. */
export interface SourceView {
  readonly type: 'plan' | 'addon' | 'grant';
  /** Of the plan, the add-on or the grant. */
  readonly id: string;
  /** Null for a grant. */
  readonly subscriptionId: string | null;
  /** What it gives, with the quantity; null: without a limit, or nothing to count. */
  readonly value: string | null;
  /** False where an add-on that sets the value takes its place. */
  readonly isCounted: boolean;
}

/** What a customer has of one entitlement, as it is kept. */
export interface HoldingRow extends Pick<
  Holding,
  'isHeld' | 'allowance' | 'granted' | 'isOverageAllowed'
> {
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
  readonly used: Rational;
  readonly spent: Rational;
  readonly covered: Rational;
  readonly told: readonly number[];
  readonly sources: readonly SourceView[];
  readonly dueAt: Date | null;
  readonly leaseEndsAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A row with the entitlement it is about. */
export interface Held {
  readonly entitlement: Pick<Entitlement, 'id' | 'key' | 'type' | 'meterId' | 'thresholds'>;
  readonly row: HoldingRow;
}

/** As much of both as a check is answered from. */
export interface Glimpse {
  readonly entitlement: Pick<Entitlement, 'key' | 'type'>;
  readonly row: Pick<
    HoldingRow,
    | 'testClockId'
    | 'validUntil'
    | 'isHeld'
    | 'allowance'
    | 'granted'
    | 'isOverageAllowed'
    | 'windowEndAt'
    | 'used'
    | 'spent'
    | 'covered'
    | 'sources'
  >;
}

/** What a customer has of one entitlement, as it is shown. */
export interface CustomerEntitlement {
  readonly key: string;
  readonly type: Entitlement['type'];
  readonly hasAccess: boolean;
  /** Decimal string; null: without a limit, or nothing to count. */
  readonly limit: string | null;
  /** Null unless it is metered. */
  readonly used: string | null;
  readonly remaining: string | null;
  readonly isOverageAllowed: boolean;
  readonly resetsAt: Date | null;
  readonly sources: readonly SourceView[];
}

export function windowOf({ reset, windowStartAt, windowEndAt }: HoldingRow): ResetWindow | null {
  return reset === null || windowStartAt === null
    ? null
    : { reset, startAt: windowStartAt, endAt: windowEndAt };
}

export function holdingOf({ entitlement, row }: Held): Holding {
  const { isHeld, allowance, granted, isOverageAllowed, used, spent, covered, told } = row;
  return {
    type: entitlement.type,
    isHeld,
    allowance,
    granted,
    isOverageAllowed,
    counter: { window: windowOf(row), used, spent, covered, told },
  };
}

export function shown({ entitlement, row }: Glimpse): CustomerEntitlement {
  const { isHeld, allowance, granted, isOverageAllowed, used, spent, covered } = row;
  const balance: Balance = {
    type: entitlement.type,
    isHeld,
    allowance,
    granted,
    isOverageAllowed,
    counter: { used, spent, covered },
  };
  const text = (value: Rational | null): string | null =>
    value === null ? null : formatExact(value);
  return {
    key: entitlement.key,
    type: entitlement.type,
    hasAccess: hasAccess(balance),
    limit: text(limitOf(balance)),
    used: entitlement.type === 'metered' ? formatExact(used) : null,
    remaining: text(remainingOf(balance)),
    isOverageAllowed: isHeld && isOverageAllowed,
    resetsAt: isHeld ? row.windowEndAt : null,
    sources: row.sources,
  };
}

export function viewOfSource(source: CountedSource): SourceView {
  const { kind, subscriptionId, total, isCounted } = source;
  return {
    type: kind,
    id: kind === 'plan' ? source.planId : source.addonId,
    subscriptionId,
    value: total === null ? null : formatExact(total),
    isCounted,
  };
}

export function viewOfGrant({ id, balance }: Pick<Grant, 'id' | 'balance'>): SourceView {
  return {
    type: 'grant',
    id,
    subscriptionId: null,
    value: balance === null ? null : formatExact(balance),
    isCounted: true,
  };
}
