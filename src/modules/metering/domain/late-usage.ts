import type { Period } from '../../../core/time';

/**
 * Events that a meter counts and that were stored or voided after a bill of their period. The next invoice corrects it.
 */
export interface LateUsage {
  /** Id of the first bill of this period and meter. */
  readonly billedId: string;
  readonly customerId: string;
  readonly meterId: string;
  readonly period: Period;
  readonly events: number;
}
