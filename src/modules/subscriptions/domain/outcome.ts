import type { Proration } from '../../../core/proration';
import type { Period } from '../../../core/time';
import type {
  ScheduledChange,
  ScheduledStatus,
  SoldPrice,
  Subscription,
  SubscriptionItem,
  SubscriptionPeriod,
} from './subscription';

export interface ChargeLine {
  readonly kind: 'charge';
  readonly isProration: boolean;
  readonly itemId: string;
  readonly price: SoldPrice;
  readonly quantity: string;
  readonly period: Period;
  readonly fullPeriod: Period;
  readonly proration: Proration | null;
  readonly prorationUnit: 'day' | 'second';
  readonly timeZone: string;
  readonly isInAdvance: boolean;
}

/** Request to bill the usage of an item in a period, or in the part of the period in which its price applies. */
export interface UsageLine extends Omit<
  ChargeLine,
  'kind' | 'isProration' | 'quantity' | 'isInAdvance'
> {
  readonly kind: 'usage';
  /** Start of the billing period. Values that a weighted-sum meter got since then carry over into `period`. */
  readonly heldSince: Date;
  readonly meterId: string;
  readonly isByGroup: boolean;
}

export interface CreditLine {
  readonly kind: 'credit';
  readonly itemId: string;
  readonly unusedFrom: Date;
  readonly end: 'border' | 'termination';
  /**
   * Unit in which the unused part is counted: after a change, the proration unit of the new plan version. Absent: the
   * unit of the credited line.
   */
  readonly unit?: 'day' | 'second';
}

export type BillingLine = ChargeLine | UsageLine | CreditLine;

export interface Billing {
  readonly reason: 'subscription_start' | 'renewal' | 'change' | 'end' | 'late_usage';
  readonly period: Period | null;
  /** Billing period that contains `period`; absent if both are the same. */
  readonly billingPeriod?: Period;
  readonly renewsAt: Date | null;
  readonly lines: readonly BillingLine[];
  /**
   * Set if late usage (accepted after its period was billed) is invoiced even without other lines. `closed`: for the
   * last invoice of the subscription. `billed`: for any other invoice. Absent: late usage is invoiced only together
   * with other lines.
   */
  readonly lateUsage?: 'billed' | 'closed';
}

export type SubscriptionEventKind =
  | 'created'
  | 'activated'
  | 'updated'
  | 'trial_ending'
  | 'renewed'
  | 'past_due'
  | 'paused'
  | 'resumed'
  | 'expired'
  | 'canceled';

export type EndedItem = Pick<SubscriptionItem, 'id' | 'isPaused' | 'plannedEndAt' | 'endedBy'> & {
  readonly endAt: Date;
};

/** A closed period whose deferred revenue is recognized, with the items billed in the period. */
export interface EarnedItems {
  readonly period: SubscriptionPeriod;
  readonly itemIds: readonly string[];
  /** True if no item continues after the period. Charges for the time after the period are then recognized as well. */
  readonly endsItems: boolean;
}

/**
 * Result of a decision about a subscription: changes to write, charges to invoice and events to record, in one commit.
 */
export interface Outcome {
  readonly subscription: Subscription;
  readonly itemsAdded: readonly SubscriptionItem[];
  readonly itemsEnded: readonly EndedItem[];
  /** Ids of items that continue, although an earlier change planned their end. */
  readonly itemsReopened: readonly string[];
  /** Ids of items to delete, which were planned to start later. */
  readonly itemsRemoved: readonly string[];
  /** The period that was current before the decision, with its changes; null: unchanged. */
  readonly periodChanged: SubscriptionPeriod | null;
  readonly periodOpened: SubscriptionPeriod | null;
  readonly scheduled: ScheduledChange | null;
  readonly settled: { readonly id: string; readonly status: ScheduledStatus } | null;
  readonly billing: Billing | null;
  /** The period that the decision closes; null: none. */
  readonly earned: EarnedItems | null;
  readonly events: readonly SubscriptionEventKind[];
}

/** A decision about a subscription, and the subscription as it was before. */
export interface Decision {
  readonly before: Subscription;
  readonly outcome: Outcome;
}

export function outcomeOf(
  subscription: Subscription,
  parts: Partial<Omit<Outcome, 'subscription'>>,
): Outcome {
  return {
    subscription,
    itemsAdded: [],
    itemsEnded: [],
    itemsReopened: [],
    itemsRemoved: [],
    periodChanged: null,
    periodOpened: null,
    scheduled: null,
    settled: null,
    billing: null,
    earned: null,
    events: [],
    ...parts,
  };
}

export function earnedItems(
  period: SubscriptionPeriod,
  items: readonly SubscriptionItem[],
  endsItems: boolean,
): EarnedItems {
  return { period, itemIds: items.map(({ id }) => id), endsItems };
}

/** Returns true if a decision writes, bills and records nothing. */
export function isNoOp(before: Subscription, { subscription, events }: Outcome): boolean {
  return subscription === before && events.length === 0;
}

/**
 * Returns true if the decision ends a period early, or credits charges that were billed in advance. Draft invoices with
 * such charges must be finalized before the decision is written.
 * @param itemId if present, credits of other items do not count
 */
export function affectsPrepaidCharges({ billing, earned }: Outcome, itemId?: string): boolean {
  return (
    (earned !== null && earned.period.endAt < earned.period.fullEndAt) ||
    billing?.lines.some(
      (line) => line.kind === 'credit' && (itemId === undefined || line.itemId === itemId),
    ) === true
  );
}

export interface NewSubscriptionIds {
  readonly item: () => string;
  readonly period: () => string;
  readonly change: () => string;
}
