import type { Metadata } from '../../../core/metadata';
import type { Aggregation } from '../../../core/usage';

export const AGGREGATIONS = [
  'count',
  'sum',
  'max',
  'unique',
  'latest',
  'weighted_sum',
] as const satisfies readonly Aggregation[];

export const LATE_EVENTS = ['next_invoice', 'reject'] as const;
export type LateEvents = (typeof LATE_EVENTS)[number];

export const METER_STATUSES = ['backfilling', 'active'] as const;
export type MeterStatus = (typeof METER_STATUSES)[number];

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
  /** `backfilling` until the events stored before it are counted; its totals are incomplete until then. */
  readonly status: MeterStatus;
  /** Stored events that the backfill has counted. */
  readonly backfillCounted: number;
  /** Stored events that it has to count: an upper bound, known once it begins. */
  readonly backfillTotal: number;
  readonly archivedAt: Date | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a new meter is made of. */
export type MeterTerms = Pick<
  Meter,
  | 'key'
  | 'name'
  | 'eventName'
  | 'aggregation'
  | 'valueProperty'
  | 'filters'
  | 'groupBy'
  | 'lateEvents'
  | 'isRecurring'
  | 'metadata'
>;

/** What an update may change; what is left out stays. */
export interface MeterChange {
  readonly name?: string | undefined;
  readonly lateEvents?: LateEvents | undefined;
  readonly metadata?: Metadata | undefined;
}

/** A field that the terms of a meter contradict, and why. Fields are named as on the wire. */
export interface MeterFault {
  readonly pointer: string;
  readonly message: string;
}

/** The places where terms contradict each other: a sum of nothing, a count of a value, a carry-over of what is not held. */
export function faultsOfMeter(terms: MeterTerms): readonly MeterFault[] {
  const { aggregation, valueProperty, isRecurring } = terms;
  const counts = aggregation === 'count';
  const rules: readonly (readonly [broken: boolean, pointer: string, message: string])[] = [
    [
      !counts && valueProperty === null,
      '/value_property',
      `is required for aggregation ${aggregation}`,
    ],
    [counts && valueProperty !== null, '/value_property', 'is not for aggregation count'],
    [
      isRecurring && aggregation !== 'weighted_sum',
      '/is_recurring',
      'is only for aggregation weighted_sum',
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, pointer, message]) => ({ pointer, message }));
}
