import { BEGINNING, type Period } from '../../../core/time';

/** How long a value of a meter carries over: not at all, to the end of the billing period, or without end. */
export type CarryOver = 'none' | 'period' | 'for_ever';

export interface SubscribedSpan {
  readonly startAt: Date;
  readonly endAt: Date | null;
}

/** Span in which a price for a meter is billed. */
export interface BillableSpan {
  readonly startAt: Date;
  readonly endAt: Date | null;
  readonly trialEndAt: Date | null;
  /** Start of the billing period that contains `startAt`; null: no period has started yet. */
  readonly periodStartAt: Date | null;
  /** True if the price starts only when a paused subscription is resumed. */
  readonly awaitsResume: boolean;
  /** Present if a pause ended this span, and the subscription is still paused; otherwise null. */
  readonly pause: {
    readonly plannedEndAt: Date | null;
    /** End of the billing period in which the pause began. */
    readonly periodEndAt: Date;
  } | null;
}

const END = new Date('9999-12-31T23:59:59.999Z');

/**
 * Returns the spans up to `now` in which a customer was subscribed, but the usage of a meter is never billed. This is
 * so in a trial or a pause, and on a plan without a price for the meter. Leaves out spans whose usage carries over into
 * a billed period.
 */
export function unbillablePeriods(
  subscribed: readonly SubscribedSpan[],
  sold: readonly BillableSpan[],
  carryOver: CarryOver,
  now: Date,
): readonly Period[] {
  const billable = sold.flatMap((one) => countedIn(one, carryOver, now));
  return billable.reduce<readonly Period[]>(
    (left, { startAt, endAt }) =>
      left.flatMap((period) =>
        [
          { startAt: period.startAt, endAt: earlier(period.endAt, startAt) },
          { startAt: later(period.startAt, endAt), endAt: period.endAt },
        ].filter((rest) => rest.startAt < rest.endAt),
      ),
    subscribed
      .map(({ startAt, endAt }) => ({ startAt, endAt: earlier(endAt ?? now, now) }))
      .filter(({ startAt, endAt }) => startAt < endAt),
  );
}

/**
 * Returns the span in which events affect the bills of a price; empty if the price never starts. If values carry over,
 * this span can start before the price does.
 */
function countedIn(sold: BillableSpan, carryOver: CarryOver, now: Date): readonly Period[] {
  const { trialEndAt, periodStartAt } = sold;
  // The resume begins a new period, into which only values without an end carry over.
  if (sold.awaitsResume && carryOver !== 'for_ever') return [];
  const isTrialFirst = trialEndAt !== null && trialEndAt > sold.startAt;
  const startAt = isTrialFirst ? trialEndAt : sold.startAt;
  switch (carryOver) {
    case 'none':
      return spanOf(startAt, startAt, sold.endAt ?? END);
    case 'period':
      return spanOf(
        startAt,
        isTrialFirst ? trialEndAt : (periodStartAt ?? startAt),
        resumableUntil(sold, now, sold.pause?.periodEndAt ?? END),
      );
    case 'for_ever':
      return spanOf(startAt, BEGINNING, resumableUntil(sold, now, END));
  }
}

/**
 * Returns the time from which events no longer affect the bills of a price whose values carry over. Normally this is
 * `endAt`. While the subscription is paused, a resume can still bill values up to the planned end of the price or
 * `heldUntil`, whichever is earlier. Returns that time if it is in the future.
 * @param heldUntil time up to which values carry over
 */
function resumableUntil({ endAt, pause }: BillableSpan, now: Date, heldUntil: Date): Date {
  if (pause === null) return endAt ?? END;
  const until = earlier(pause.plannedEndAt ?? END, heldUntil);
  return until > now ? until : (endAt ?? END);
}

/** Returns the span from `heldSince` to `endAt`; empty unless the price starts (`startAt`) before `endAt`. */
function spanOf(startAt: Date, heldSince: Date, endAt: Date): readonly Period[] {
  return startAt < endAt ? [{ startAt: heldSince, endAt }] : [];
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}
