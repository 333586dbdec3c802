import type { Period } from '../../../core/time';

/** Events of a meter that were stored or voided after their period was billed. The next invoice corrects the bill. */
export interface LateUsage {
  /** Id of the first bill of this period and meter. */
  readonly billedId: string;
  readonly customerId: string;
  readonly meterId: string;
  readonly period: Period;
  readonly events: number;
}
