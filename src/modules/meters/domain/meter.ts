import type { Metadata } from '../../../core/metadata';
import type { ChangeOf } from '../../../core/next-version';
import type { Aggregation } from '../../../core/usage';
import type { TermsFault } from '../../../core/terms-fault';

export const LATE_EVENTS = ['next_invoice', 'reject'] as const;
export type LateEvents = (typeof LATE_EVENTS)[number];

export const METER_STATUSES = ['backfilling', 'active'] as const;
export type MeterStatus = (typeof METER_STATUSES)[number];

/**
 * Maximum number of meters of one event name, including archived ones. Limited because the transaction that stores an
 * event counts it for all these meters.
 */
export const MAX_METERS_PER_EVENT_NAME = 50;

/** An event passes the filter if its property `property`, as text, is one of the values `in`. */
export interface MeterFilter {
  readonly property: string;
  readonly in: readonly string[];
}

/**
 * Rules that turn the events of one name into a quantity per customer. A client can change only `name`, `lateEvents`
 * and `metadata`.
 */
export interface Meter {
  readonly id: string;
  readonly version: number;
  /** Unique key by which applications refer to the meter. */
  readonly key: string;
  readonly name: string;
  readonly eventName: string;
  readonly aggregation: Aggregation;
  /** Property of the event that holds the value to aggregate; null for `count`, which needs no value. */
  readonly valueProperty: string | null;
  /** An event counts if it passes all filters. */
  readonly filters: readonly MeterFilter[];
  /** Properties that usage is grouped by. A group lists its values in this order. */
  readonly groupBy: readonly string[];
  /** Policy for events that arrive when their period is already billed. */
  readonly lateEvents: LateEvents;
  /** True if the value that a `weighted_sum` holds at the end of a period carries over to the next period. */
  readonly isRecurring: boolean;
  /**
   * `backfilling` while events that were stored before the creation of the meter are counted. Its totals are incomplete
   * until then.
   */
  readonly status: MeterStatus;
  /** Number of stored events that the backfill has counted so far. */
  readonly backfillCounted: number;
  /** Upper limit for the number of stored events that the backfill counts; 0 until the backfill starts. */
  readonly backfillTotal: number;
  /**
   * Instant from which all events are counted. Earlier events may be missing, because they were archived before the
   * meter could count them. Null: all events are counted.
   */
  readonly countedFromAt: Date | null;
  readonly archivedAt: Date | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

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

/** Returns the fields that contradict the aggregation, each with a message. */
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
