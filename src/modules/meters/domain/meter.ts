import type { Metadata } from '../../../core/metadata';
import type { ChangeOf } from '../../../core/next-version';
import type { Aggregation } from '../../../core/usage';
import type { TermsFault } from '../../../core/terms-fault';

export const LATE_EVENTS = ['next_invoice', 'reject'] as const;
export type LateEvents = (typeof LATE_EVENTS)[number];

export const METER_STATUSES = ['backfilling', 'active'] as const;
export type MeterStatus = (typeof METER_STATUSES)[number];

/**
 * Maximum number of meters of one event name. The transaction that stores an event counts the event for all of them.
 */
export const MAX_METERS_PER_EVENT_NAME = 50;

/** An event passes the filter if the property, as text, is one of the values. */
export interface MeterFilter {
  readonly property: string;
  readonly in: readonly string[];
}

/**
 * Definition that turns the events of one name into a quantity per customer. The rules by which a meter counts never change.
 */
export interface Meter {
  readonly id: string;
  readonly version: number;
  /** Unique key that applications use. */
  readonly key: string;
  readonly name: string;
  readonly eventName: string;
  readonly aggregation: Aggregation;
  /** Null only for `count`. */
  readonly valueProperty: string | null;
  /** An event counts if it passes all filters. */
  readonly filters: readonly MeterFilter[];
  /** Properties that usage is grouped by, in order. */
  readonly groupBy: readonly string[];
  /** Policy for events of a period that is already billed. */
  readonly lateEvents: LateEvents;
  /** True if the value that a `weighted_sum` holds at the end of a period carries over to the next. */
  readonly isRecurring: boolean;
  /** `backfilling` until events stored before the meter was created are counted; totals are incomplete until then. */
  readonly status: MeterStatus;
  /** Stored events that the backfill has counted. */
  readonly backfillCounted: number;
  /** Upper limit for the number of existing events that the backfill counts; 0 until the backfill starts. */
  readonly backfillTotal: number;
  /**
   * Instant from which events are counted. Earlier events were archived before the meter existed. Null: all are
   * counted.
   */
  readonly countedFromAt: Date | null;
  readonly archivedAt: Date | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Input for a new meter. */
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

export type MeterChange = ChangeOf<Meter, 'name' | 'lateEvents' | 'metadata'>;

/** Returns the fields that contradict the aggregation. */
export function faultsOfMeter(terms: MeterTerms): readonly TermsFault[] {
  const { aggregation, valueProperty, isRecurring } = terms;
  const isCount = aggregation === 'count';
  const rules: readonly (readonly [broken: boolean, pointer: string, message: string])[] = [
    [
      !isCount && valueProperty === null,
      '/value_property',
      `is required for aggregation ${aggregation}`,
    ],
    [isCount && valueProperty !== null, '/value_property', 'is not for aggregation count'],
    [
      isRecurring && aggregation !== 'weighted_sum',
      '/is_recurring',
      'is only for aggregation weighted_sum',
    ],
  ];
  return rules.filter(([broken]) => broken).map(([, pointer, message]) => ({ pointer, message }));
}
