import type { Rational } from '../../../core/decimal';

/** The text of each property that usage is told apart by, null where an event lacks it; `[]` where it is not. */
export type Group = readonly (string | null)[];

/** The usage of one group. */
export interface GroupUsage {
  readonly group: Group;
  readonly value: Rational;
  readonly events: bigint;
}
