import {
  prorate,
  prorateBetween,
  type ProratedPart,
  type Proration,
} from '../../../core/proration';
import { periodAt, periodFollowing, periodsBegunBy, type Period } from '../../../core/time';
import type { ChargeLine, CreditLine, UsageLine } from './outcome';
import {
  anchorOf,
  fullSpanOf,
  type Snapshot,
  type SoldUsage,
  spanOf,
  type Subscription,
  type SubscriptionItem,
  type SubscriptionPeriod,
  unitOf,
} from './subscription';

/**
 * Returns the time up to which charges in advance are recognized as revenue: the end of a closed period, or the start
 * of an open one.
 */
export function earnedUntil({ startAt, endAt, isClosed }: SubscriptionPeriod): Date {
  return isClosed ? endAt : startAt;
}

/** Returns the period that follows `previous`. If `previous` is null, returns the first period from the billing anchor. */
export function nextPeriod(
  subscription: Subscription,
  previous: SubscriptionPeriod | null,
  id: string,
): SubscriptionPeriod {
  const anchor = anchorOf(subscription);
  const found = previous === null ? periodAt(anchor, 0) : periodFollowing(anchor, previous);
  return {
    id,
    subscriptionId: subscription.id,
    index: found.index,
    startAt: found.startAt,
    endAt: found.endAt,
    fullStartAt: found.fullPeriod.startAt,
    fullEndAt: found.fullPeriod.endAt,
    isTrial: false,
    isClosed: false,
  };
}

export function trialPeriod(
  subscription: Subscription,
  endAt: Date,
  id: string,
): SubscriptionPeriod {
  const { startAt } = subscription;
  return {
    id,
    subscriptionId: subscription.id,
    index: 0,
    startAt,
    endAt,
    fullStartAt: startAt,
    fullEndAt: endAt,
    isTrial: true,
    isClosed: false,
  };
}

/** Counts the periods after the trial that have started by `at`, up to `max`. */
export function periodsBegun(subscription: Subscription, at: Date, max: number): number {
  const { anchorAt, trialEndAt } = subscription;
  const anchor = anchorOf({ ...subscription, anchorAt: trialEndAt ?? anchorAt });
  return periodsBegunBy(anchor, at, max);
}

/** Counts the periods that are overdue for billing at `at`, up to `max`. */
export function periodsOverdue(subscription: Subscription, at: Date, max: number): number {
  const { nextBillingAt: anchorAt } = subscription;
  if (anchorAt === null || anchorAt > at) return 0;
  return periodsBegunBy(anchorOf({ ...subscription, anchorAt }), at, max);
}

/**
 * Returns the time at which a command takes effect: `now` or, if later, the last change of what is billed. Such a
 * change is the start of the period, a pause, or the start or end of an item. It is after `now` if the clock of another
 * process is ahead. A command at `now` would treat such a change as planned, and would not credit its charges. Ignores
 * starts and ends that are planned for the end of the period or later.
 */
export function commandTime(
  { subscription, items }: Pick<Snapshot, 'subscription' | 'items'>,
  now: Date,
): Date {
  const { currentPeriodStartAt, currentPeriodEndAt, pausedAt } = subscription;
  if (currentPeriodEndAt === null) return now;
  const ofItems = items.flatMap(({ startAt, endAt }) => [startAt, endAt]);
  const changes = ofItems.filter((at) => at !== null && at < currentPeriodEndAt);
  return [currentPeriodStartAt, pausedAt, ...changes].reduce<Date>(
    (latest, at) => (at !== null && at > latest ? at : latest),
    now,
  );
}

/** Returns the end of a trial. Counts the days in local time. */
export function trialEnd(startAt: Date, days: number, timeZone: string): Date {
  const trial = { mode: 'anniversary', startAt, timeZone, interval: 'day' } as const;
  return periodAt({ ...trial, intervalCount: days }, 0).endAt;
}

export function twoYearsAfter(startAt: Date, timeZone: string): Date {
  const years = { mode: 'anniversary', startAt, timeZone, interval: 'year' } as const;
  return periodAt({ ...years, intervalCount: 2 }, 0).endAt;
}

/** Returns the charges in advance at the start of a period, for all items that are billed then. */
export function advanceCharges(
  subscription: Subscription,
  items: readonly SubscriptionItem[],
  period: SubscriptionPeriod,
): readonly ChargeLine[] {
  const { startAt } = period;
  return items
    .filter(({ price }) => price.timing === 'in_advance')
    .filter((item) => item.startAt <= startAt && (item.endAt === null || item.endAt > startAt))
    .map((item) =>
      charge(
        subscription,
        item,
        spanOf(period),
        period,
        firstPeriodProration(subscription, item, period),
      ),
    );
}

/**
 * Returns the charges in arrears of a period that ends at `until.at`. Each price is charged for the part of the period
 * in which it applied.
 * - With proration by day, the date of a termination or a pause is charged.
 * - If a change ends a part, the end is counted in the proration unit of the plan version after the change.
 * - With proration `none`, a price is charged in full if it applied throughout the period. Otherwise each part in which
 *   it applied, for example before and after a pause, is prorated by day.
 * - Usage is counted within the part. For a metered price, only the minimum, the maximum and a fee at zero usage are
 *   prorated.
 */
export function arrearsCharges(
  subscription: Subscription,
  items: readonly SubscriptionItem[],
  period: SubscriptionPeriod,
  until: {
    readonly at: Date;
    readonly end: 'border' | 'termination';
    /**
     * Unit in which the end is counted: after a change, the proration unit of the new plan version. Absent: the unit of
     * each item.
     */
    readonly unit?: 'day' | 'second';
  },
): readonly (ChargeLine | UsageLine)[] {
  if (period.isTrial || period.isClosed) return [];
  return items
    .filter(({ price }) => price.timing === 'in_arrears')
    .flatMap((item): readonly (ChargeLine | UsageLine)[] => {
      const startAt = item.startAt > period.startAt ? item.startAt : period.startAt;
      const holdsOn = item.endAt === null || item.endAt > until.at;
      const endAt = item.endAt === null || holdsOn ? until.at : item.endAt;
      const end = holdsOn ? until.end : item.endedBy === 'pause' ? 'termination' : 'border';
      const endUnit = (holdsOn ? until.unit : changeUnitOf(item)) ?? unitOf(item);
      const isCountedAlike = end === 'border' && endUnit === unitOf(item);
      // An item that a change ended at the start of the period was billed with the former period.
      const wasBilled = !holdsOn && end === 'border' && item.startAt < period.startAt;
      // An item that ends at its start may still be charged. With proration by day, a termination or a pause bills that
      // date. If the start is counted by day and a change counts the end by second, the time from midnight to the
      // change is billed.
      const isSkipped = isCountedAlike || wasBilled;
      if (startAt > endAt || (startAt.getTime() === endAt.getTime() && isSkipped)) return [];
      const lastsToPeriodEnd =
        endAt.getTime() === period.endAt.getTime() || (holdsOn && end === 'termination');
      const isWhole =
        (startAt.getTime() === period.fullStartAt.getTime() &&
          endAt.getTime() === period.fullEndAt.getTime()) ||
        (item.proration === 'none' &&
          startAt.getTime() === period.startAt.getTime() &&
          lastsToPeriodEnd);
      const part = { startAt, endAt };
      const proration = isWhole
        ? null
        : partOf(subscription, item, { ...part, end }, period, endUnit);
      const charged = charge(subscription, item, part, period, proration);
      const { usage } = item.price;
      return [usage === undefined ? charged : usageOf(charged, usage, period.startAt)];
    });
}

/** End of an item, with the fields that determine how its unused time is counted. */
export interface ItemEnding {
  readonly itemId: string;
  readonly endAt: Date;
  readonly endedBy: SubscriptionItem['endedBy'];
  readonly isLast: boolean;
  /** Proration of an item that starts when this item ends; null: no item starts then. */
  readonly nextProration: SubscriptionItem['proration'] | null;
}

/**
 * Returns the request that credited the unused time of an item when it ended. Applies only to an item that was billed
 * in advance and ended within a billed period.
 */
export function creditAtEnd({ itemId, endAt, isLast, ...item }: ItemEnding): CreditLine {
  const common = { kind: 'credit' as const, itemId, unusedFrom: endAt };
  const changeUnit = changeUnitOf(item);
  if (changeUnit !== null) return { ...common, end: 'border', unit: changeUnit };
  if (isLast) return { ...common, end: 'termination' };
  const { nextProration } = item;
  const unit = nextProration === null ? undefined : unitOf({ proration: nextProration });
  return { ...common, end: 'border', unit };
}

/**
 * Returns the unit in which the end of an item is counted, if a change ended the item. Otherwise returns null: the unit
 * of the item's own proration then applies.
 */
function changeUnitOf({ endedBy }: Pick<SubscriptionItem, 'endedBy'>): 'day' | 'second' | null {
  switch (endedBy) {
    case 'day_change':
      return 'day';
    case 'second_change':
      return 'second';
    default:
      return null;
  }
}

/** Returns the usage lines of the current period, up to its end or to an earlier scheduled cancellation. */
export function usageSoFar({
  subscription,
  items,
  period,
  pending,
}: Snapshot): readonly UsageLine[] {
  if (period === null) return [];
  const endsEarly = pending?.terms.kind === 'cancel' && pending.effectiveAt < period.endAt;
  const until = endsEarly
    ? { at: pending.effectiveAt, end: 'termination' as const }
    : { at: period.endAt, end: 'border' as const };
  return arrearsCharges(subscription, items, period, until).filter((line) => line.kind === 'usage');
}

export function restOfPeriodCharge(
  subscription: Subscription,
  item: SubscriptionItem,
  period: SubscriptionPeriod,
): ChargeLine {
  const rest = { startAt: item.startAt, endAt: period.endAt };
  const proration = partOf(subscription, item, { ...rest, end: 'border' }, period);
  return { ...charge(subscription, item, rest, period, proration), isProration: true };
}

/**
 * Returns the proration of a first period that is shorter than its calendar period; null: the charge is not prorated.
 */
function firstPeriodProration(
  subscription: Subscription,
  item: SubscriptionItem,
  period: SubscriptionPeriod,
): Proration | null {
  const isFull = period.startAt.getTime() === period.fullStartAt.getTime();
  if (isFull || item.proration === 'none') return null;
  return partOf(subscription, item, { ...spanOf(period), end: 'border' }, period);
}

/**
 * Returns the proration of a part of a period. The start of the part is counted in the unit of the item, its end in
 * `endUnit`: `day` counts whole dates, `second` counts exact times.
 */
function partOf(
  { timeZone }: Subscription,
  item: SubscriptionItem,
  part: ProratedPart,
  period: SubscriptionPeriod,
  endUnit = unitOf(item),
): Proration {
  const unit = unitOf(item);
  const full = fullSpanOf(period);
  if (endUnit === unit) return prorate(unit, part, full, timeZone);
  const [from, to] = [
    { at: part.startAt, unit },
    { at: part.endAt, unit: endUnit },
  ];
  return prorateBetween(from, to, full, timeZone);
}

function charge(
  subscription: Subscription,
  item: SubscriptionItem,
  span: Period,
  period: SubscriptionPeriod,
  proration: Proration | null,
): ChargeLine {
  return {
    kind: 'charge',
    isProration: false,
    itemId: item.id,
    price: item.price,
    quantity: item.quantity,
    period: span,
    fullPeriod: fullSpanOf(period),
    proration,
    prorationUnit: proration?.unit ?? unitOf(item),
    timeZone: subscription.timeZone,
    isInAdvance: item.price.timing === 'in_advance',
  };
}

function usageOf(
  { itemId, price, period, fullPeriod, proration, prorationUnit, timeZone }: ChargeLine,
  usage: SoldUsage,
  heldSince: Date,
): UsageLine {
  const sold = { itemId, price, period, fullPeriod, proration, prorationUnit, timeZone };
  return { kind: 'usage', ...sold, heldSince, ...usage };
}
