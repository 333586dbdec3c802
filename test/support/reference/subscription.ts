import type { ReferenceInvoice } from './bill';
import type { Redemption } from './redemption';
import { afterDays } from './calendar';
import { FOREVER, type Item, itemsOf } from './items';
import type { Terms } from './offers';

/** Current period of a subscription. */

interface RunningPeriod {
  readonly from: number;
  to: number;
  readonly fullFrom: number;
  readonly index: number;
  readonly isTrial: boolean;
  isOver: boolean;
  /** Instant at which the end of a trial is announced; null after that. */
  reportsAt: number | null;
}

type Pending =
  | { readonly kind: 'cancel'; readonly at: number; readonly credits: boolean }
  | { readonly kind: 'change'; readonly at: number; readonly terms: Terms };

interface FirstPayment {
  readonly invoice: ReferenceInvoice;
  readonly until: number;
  /** Instant at which the subscription expires; null after that, if the outcome of a payment in flight decides. */
  reportsAt: number | null;
}

type ReferenceStatus =
  | 'incomplete'
  | 'trialing'
  | 'active'
  | 'past_due'
  | 'unpaid'
  | 'paused'
  | 'canceled'
  | 'incomplete_expired';

export interface ReferenceSubscription {
  readonly index: number;
  status: ReferenceStatus;
  readonly begunAt: number;
  endedAt: number | null;
  terms: Terms;
  readonly mode: 'anniversary' | 'calendar';
  anchor: number;
  items: Item[];
  period: RunningPeriod;
  pending: Pending | null;
  /** Invoice whose payment activates the subscription, and the end of the wait for it. */
  firstPayment: FirstPayment | null;
  readonly redemptions: Redemption[];
  readonly events: string[];
  readonly spans: { readonly from: number; to: number }[];
}

const TRIAL_ENDING_MS = 3 * 24 * 3_600_000;

/** Creates a subscription that has started, with its trial if it has one. */
export function begun(
  index: number,
  terms: Terms,
  from: number,
  mode: ReferenceSubscription['mode'],
  trialDays: number,
  zone: string,
): ReferenceSubscription {
  const isTrial = trialDays > 0;
  const to = afterDays(from, trialDays, zone);
  const isShort = isTrial && to - TRIAL_ENDING_MS <= from;
  const reportsAt = isTrial && !isShort ? to - TRIAL_ENDING_MS : null;
  return {
    index,
    status: isTrial ? 'trialing' : 'active',
    begunAt: from,
    endedAt: null,
    terms,
    mode,
    anchor: from,
    items: itemsOf(terms, from),
    period: { from, to, fullFrom: from, index: -1, isTrial, isOver: false, reportsAt },
    pending: null,
    firstPayment: null,
    redemptions: [],
    events: ['created', isTrial ? 'updated' : 'activated', ...(isShort ? ['trial_ending'] : [])],
    spans: [],
  };
}

export function isEnded({ status }: Pick<ReferenceSubscription, 'status'>): boolean {
  return status === 'canceled' || status === 'incomplete_expired';
}

/** Returns true if an instant is between the start and the end of a subscription, even if it was never paid. */
export function heldAt({ status, begunAt, endedAt }: ReferenceSubscription, at: number): boolean {
  return status !== 'incomplete' && begunAt <= at && (endedAt === null || at < endedAt);
}

/** Returns true if a subscription bills the usage of an instant by the sum of its events. */
export function billsUsageOf(subscription: ReferenceSubscription, at: number): boolean {
  const { status, items, spans, period, firstPayment } = subscription;
  // After a late first payment, boundaries lie in the past: the next period has not started, but will be billed.
  const isToBegin = !isEnded(subscription) && !period.isOver && period.to <= at;
  return (
    status !== 'incomplete_expired' &&
    // A subscription that was never active sold no usage.
    firstPayment?.invoice.isVoidedUnpaid !== true &&
    (isToBegin || spans.some(({ from, to }) => from <= at && at < to)) &&
    items.some(({ price, from, to }) => price.isMetered && !price.isHeld && from <= at && at < to)
  );
}

export function dueOf(subscription: ReferenceSubscription): number {
  const { status, period, pending, firstPayment } = subscription;
  if (isEnded(subscription)) return FOREVER;
  if (status === 'incomplete') return firstPayment?.reportsAt ?? FOREVER;
  return Math.min(
    period.isOver ? FOREVER : period.to,
    pending?.at ?? FOREVER,
    period.reportsAt ?? FOREVER,
  );
}

export function cut({ period }: ReferenceSubscription, at: number): void {
  period.to = at;
  period.isOver = true;
}

export function held({ items }: ReferenceSubscription, now: number): readonly Item[] {
  return items.filter(({ to }) => to > now);
}
