import type { Proration } from '../../../core/proration';
import type { LineTrace, RatedTrace } from './trace';

export interface SplitTrace {
  readonly shared: Omit<RatedTrace, 'proration'> | null;
  /** The whole trace if no part of it is shared; otherwise only the proration (null: the line is not prorated). */
  readonly own: LineTrace | OwnPart | null;
}

interface OwnPart {
  readonly kind?: undefined;
  readonly proration: Proration;
}

/**
 * Splits the trace of a charge. Everything except the proration can be shared by lines with the same price and
 * quantity, such as the renewals of a plan. Other traces are not split.
 */
export function splitTrace(trace: LineTrace): SplitTrace {
  if (trace.kind !== 'rated') return { shared: null, own: trace };
  const { proration, ...shared } = trace;
  return { shared, own: proration === null ? null : { proration } };
}

/** Returns null if the shared part is missing. */
export function joinTrace({ shared, own }: SplitTrace): LineTrace | null {
  if (own?.kind !== undefined) return own;
  return shared === null ? null : { ...shared, proration: own?.proration ?? null };
}
