import type { Proration } from '../../../core/proration';
import type { LineTrace, RatedTrace } from './trace';

/** The part of a trace that lines have in common, and the part that differs. */
export interface SplitTrace {
  readonly shared: Omit<RatedTrace, 'proration'> | null;
  /** The whole trace if no part is shared, otherwise its proration; null without one. */
  readonly own: LineTrace | OwnPart | null;
}

interface OwnPart {
  readonly kind?: undefined;
  readonly proration: Proration;
}

/**
 * Splits a trace. Lines that rate the same quantity by the same price share all but their proration: the renewals of a
 * subscription, and those of other subscriptions to its plan. Other traces are not shared.
 */
export function splitTrace(trace: LineTrace): SplitTrace {
  if (trace.kind !== 'rated') return { shared: null, own: trace };
  const { proration, ...shared } = trace;
  return { shared, own: proration === null ? null : { proration } };
}

/** Returns the trace that was split; null if a part is missing. */
export function joinTrace({ shared, own }: SplitTrace): LineTrace | null {
  if (own?.kind !== undefined) return own;
  return shared === null ? null : { ...shared, proration: own?.proration ?? null };
}
