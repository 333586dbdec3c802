import type { Rational } from '../../core/decimal';
import type { Period } from '../../core/time';
import type { Group, GroupUsage } from '../../core/usage';
import type { Page, PageRequest } from '../../platform/database';
import type { Meter } from '../meters';
import type { ArchivedMonth } from './domain/archived-month';
import type { TotalledAggregation } from './domain/totalled-aggregation';
import type { StoredUsageEvent, UsageEvent } from './domain/usage-event';

/** Event of a request, with its index in the list or its line number, from 0. */
export interface IncomingEvent extends UsageEvent {
  readonly index: number;
}

/** Events in memory, or chunks of events that arrive over time. */
export type IncomingEvents = Iterable<IncomingEvent> | AsyncIterable<readonly IncomingEvent[]>;

export interface Rejection {
  readonly index: number;
  /** Error code, as in docs/errors.md. */
  readonly code: string;
  readonly message: string;
}

export interface AppendResult {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly Rejection[];
}

export interface UsageQuery {
  readonly customerId: string;
  readonly meter: Meter;
  readonly period: Period;
  /**
   * For a non-recurring `weighted_sum`. Values that events set from this instant on carry over into the period, which
   * starts later. If undefined, the period starts at zero.
   */
  readonly heldSince?: Date | undefined;
  /**
   * Stream position up to which events and voids are counted; null: all are counted. A stream position is the number of
   * an event in commit order. A bill stores its position, so that its count can be repeated.
   */
  readonly upToPosition: bigint | null;
}

/**
 * Usage of a period, counted up to a stream position. The position is the number of an event, in commit order, among
 * those of one customer and event name.
 */
export interface UsageReading {
  readonly groups: readonly GroupUsage[];
  /** Instant from which events are counted; before the start of the period if values carry over into the period. */
  readonly countedFrom: Date;
  readonly upToPosition: bigint;
}

export interface UsageSeriesQuery {
  readonly customerId: string;
  readonly meter: Meter;
  /** Adjoining periods to read, in order; at least one. */
  readonly windows: readonly Period[];
  /** Names from `meter.groupBy` by which the answer is grouped. */
  readonly groupBy: readonly string[];
  /**
   * For a non-recurring `weighted_sum`. Values that events set from this instant on carry over into later windows. If
   * undefined, each window starts at zero.
   */
  readonly heldSince?: Date | undefined;
}

/** Usage of each window and of the whole period, counted up to the same stream position (number in commit order). */
export interface UsageSeries {
  readonly windows: readonly (readonly GroupUsage[])[];
  readonly whole: readonly GroupUsage[];
  /** Instant from which events are counted; before the start of the first window if values carry over into it. */
  readonly countedFrom: Date;
  readonly upToPosition: bigint;
}

export interface LargestUsageQuery extends Pick<UsageQuery, 'meter' | 'period'> {
  /** Maximum number of customers in `data`. */
  readonly limit: number;
}

export interface LargestUsage {
  /** Usage of each customer over all groups, the largest first. */
  readonly data: readonly { readonly customerId: string; readonly value: Rational }[];
  /** Number of all customers with usage. */
  readonly customers: number;
  /** Sum of the values of all customers with usage. */
  readonly total: Rational;
}

export interface TotalUsageQuery {
  readonly meter: Meter & { readonly aggregation: TotalledAggregation };
  /** Adjoining periods to read, in order; at least one. */
  readonly windows: readonly Period[];
  /** Names from `meter.groupBy` by which the answer is grouped. */
  readonly groupBy: readonly string[];
  /** Number of groups to list, those with the largest values. All other groups are combined into one entry. */
  readonly top: number;
}

/** Usage of all customers together. For a `max` meter, every value is the greatest value of any customer, not a sum. */
export interface TotalUsage {
  /** Groups with usage in each window. The entry whose `group` is null combines all other groups. */
  readonly windows: readonly (readonly {
    readonly group: Group | null;
    readonly value: Rational;
  }[])[];
  readonly total: Rational;
}

export interface UsageEventFilter {
  readonly customerId: string;
  /** Null: all names. */
  readonly eventName: string | null;
  /** Inclusive; null: unbounded. */
  readonly from: Date | null;
  /** Exclusive; null: unbounded. */
  readonly to: Date | null;
}

export interface ProofQuery extends Pick<UsageQuery, 'customerId' | 'meter' | 'period'> {
  /** Periods whose usage is never billed. */
  readonly unbillable: readonly Period[];
}

/** Usage proof: numbers of the events of a customer with the event name of a meter, by outcome. */
export interface UsageProof {
  readonly accepted: bigint;
  /**
   * Number of duplicates in the UTC hours that overlap the period, including the parts of these hours outside the
   * period. `rejected` covers the same hours.
   */
  readonly duplicates: bigint;
  readonly rejected: bigint;
  readonly voided: bigint;
  /** Events that were accepted, not voided, and counted by the meter. */
  readonly counted: bigint;
  /** Counted events that are in a billed period, and on a bill of every billed period that contains them. */
  readonly billed: bigint;
  /** Counted events that are on no bill and will never be billed. */
  readonly unbillable: bigint;
  /** All other counted events. */
  readonly pending: bigint;
  /** SHA-256 (hex) of the idempotency keys of accepted events, by timestamp and key, each followed by a line feed. */
  readonly digest: string;
  /**
   * Archived months that overlap the period. `duplicates` and `rejected` include these months. The other numbers and
   * the digest cover only events after the last of these months.
   */
  readonly archived: readonly ArchivedMonth[];
}

/** Event that a meter counts, with the group in which it counts. */
export interface CountedEvent extends StoredUsageEvent {
  readonly group: Group;
}

export const MAX_RECOUNTED_EVENTS = 10_000;

/**
 * Interface between metering and the storage of usage, so that a store on many machines can replace PostgreSQL. Every
 * store must pass `test/contract/usage-store.ts`.
 */
export abstract class UsageStore {
  /**
   * Stores events and updates all totals in one commit, or in the caller's transaction if there is one. An event whose
   * key is already stored counts as a duplicate, or is rejected if its content differs from the stored event.
   * @param events read once, in order. While the store reads them, it keeps a bounded number in memory, holds no lock
   *   and has no open transaction. In the caller's transaction, at most 4,000 events are allowed
   */
  abstract append(events: IncomingEvents): Promise<AppendResult>;

  /**
   * Stores at most 1,000 events in a commit that concurrent requests can share. Must not be called in a transaction.
   */
  abstract appendTogether(events: readonly IncomingEvent[]): Promise<AppendResult>;

  /**
   * Returns the exact usage of a period by group. If `upToPosition` is null, reads running totals for the whole UTC
   * hours of the period. Otherwise, counts single events.
   * @throws {ProblemError} `usage_archived`
   */
  abstract aggregate(query: UsageQuery): Promise<UsageReading>;

  /**
   * Counts the usage of a period again from single events, up to the position of the query. Returns null if the period
   * has more than {@link MAX_RECOUNTED_EVENTS} events, or if a part of it is archived.
   */
  abstract recount(
    query: UsageQuery & { readonly upToPosition: bigint },
  ): Promise<UsageReading | null>;

  /**
   * Returns the exact usage of many windows from one snapshot.
   * @throws {ProblemError} `usage_archived`, `too_many_windows` if the windows have too many values (one per group)
   */
  abstract series(query: UsageSeriesQuery): Promise<UsageSeries>;

  /**
   * Returns the exact usage of a period over all groups. For a `unique` meter, a value that occurs in several groups
   * counts once.
   * @throws {ProblemError} `usage_archived`
   */
  async readTogether({
    period,
    ...query
  }: Omit<UsageQuery, 'upToPosition'>): Promise<UsageReading> {
    const { whole, countedFrom, upToPosition } = await this.series({
      ...query,
      windows: [period],
      groupBy: [],
    });
    return { groups: whole, countedFrom, upToPosition };
  }

  /**
   * Returns the customers with the largest exact usage, without customers on test clocks (their time is not real).
   * @throws {ProblemError} `usage_archived`
   */
  abstract largest(query: LargestUsageQuery): Promise<LargestUsage>;

  /**
   * Returns the exact usage of all customers together, without customers on test clocks (their time is not real).
   * @throws {ProblemError} `too_much_usage_to_total`, `usage_archived`
   */
  abstract total(query: TotalUsageQuery): Promise<TotalUsage>;

  /**
   * Returns the events that {@link aggregate} counts, ordered by timestamp and position. For a `weighted_sum`, these
   * include earlier events whose value carries over into the period.
   * @param group null: all groups
   * @throws {ProblemError} `invalid_cursor`
   */
  abstract listCounted(
    query: UsageQuery,
    group: Group | null,
    page: PageRequest,
  ): Promise<Page<CountedEvent>>;

  /**
   * Yields all events that {@link listCounted} lists, in its order, some at a time. Each event costs the same, however many
   * have one timestamp. Needs an open transaction, which reads one query at a time.
   */
  abstract readCounted(query: UsageQuery): AsyncIterable<readonly CountedEvent[]>;

  /**
   * Returns, for each query, the archived months that {@link aggregate} counts. {@link listCounted} leaves these months
   * out.
   */
  abstract listArchived(
    queries: readonly UsageQuery[],
  ): Promise<readonly (readonly ArchivedMonth[])[]>;

  /**
   * Returns accepted events, voided or not, newest first. Leaves out events of archived months.
   * @throws {ProblemError} `invalid_cursor`
   */
  abstract list(filter: UsageEventFilter, page: PageRequest): Promise<Page<StoredUsageEvent>>;

  /**
   * Returns the event accepted under this key.
   * @throws {ProblemError} `usage_event_not_found`, `usage_event_archived`
   */
  abstract get(idempotencyKey: string): Promise<StoredUsageEvent>;

  /**
   * Voids an event and updates all totals in one commit. Voiding the event again is a no-op until its month is closed
   * for the archive.
   * @throws {ProblemError} `usage_event_not_found`; `usage_event_archived`; `usage_late` if a meter rejects late usage
   */
  abstract void(idempotencyKey: string): Promise<StoredUsageEvent>;

  /**
   * Counts the events of a period by outcome (usage proof). The caller's transaction must read from one snapshot.
   * @throws {ProblemError} `too_many_events_to_prove`
   */
  abstract prove(query: ProofQuery): Promise<UsageProof>;
}
