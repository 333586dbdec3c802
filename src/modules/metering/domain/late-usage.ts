import type { Period } from '../../../core/time';

/** Events that were stored after the period they happened in was billed; the next invoice corrects it. */
export interface LateUsage {
  /** What was billed first of the meter and the period. */
  readonly billedId: string;
  readonly customerId: string;
  readonly meterId: string;
  readonly period: Period;
  readonly events: number;
}
