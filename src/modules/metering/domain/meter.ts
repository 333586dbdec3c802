import type { Metadata } from '../../../core/metadata';
import type { Aggregation } from '../../../core/usage';

export const LATE_EVENTS = ['next_invoice', 'reject'] as const;
export type LateEvents = (typeof LATE_EVENTS)[number];

/** An event counts only where the property, as text, is one of the values. */
export interface MeterFilter {
  readonly property: string;
  readonly in: readonly string[];
}

/** Turns the events of one name into a number for each customer. What it counts never changes once it is made. */
export interface Meter {
  readonly id: string;
  readonly version: number;
  /** What a program asks for; unique. */
  readonly key: string;
  readonly name: string;
  readonly eventName: string;
  readonly aggregation: Aggregation;
  /** Null for `count` alone. */
  readonly valueProperty: string | null;
  /** All of them must fit. */
  readonly filters: readonly MeterFilter[];
  /** The properties by which usage is told apart, in order. */
  readonly groupBy: readonly string[];
  /** What becomes of an event whose period is billed already. */
  readonly lateEvents: LateEvents;
  /** Whether what a `weighted_sum` holds at the end of a period is carried into the next. */
  readonly isRecurring: boolean;
  readonly archivedAt: Date | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
