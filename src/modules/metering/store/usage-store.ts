import type { Period } from '../../../core/time';
import type { Group, GroupUsage } from '../../../core/usage';
import type { Meter } from '../../meters';
import type { StoredUsageEvent, UsageEvent } from '../domain/usage-event';

/** An event of a request, at its place in it: the index in the list, or the line from 0. */
export interface IncomingEvent extends UsageEvent {
  readonly index: number;
}

/** Events that are there, or that come some at a time. */
export type IncomingEvents = Iterable<IncomingEvent> | AsyncIterable<readonly IncomingEvent[]>;

export interface Rejection {
  readonly index: number;
  /** Stable, see docs/errors.md. */
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
  /** From when on a `weighted_sum` holds its values, of a meter that is not recurring. Left out: from the start of the period. */
  readonly heldSince?: Date | undefined;
  /** Only events up to this place of the stream, voids as they were there; null: all. For what a line once counted. */
  readonly upToPosition: bigint | null;
}

/** Usage as it was at one place of the stream. */
export interface UsageReading {
  readonly groups: readonly GroupUsage[];
  /** The first instant whose events move it: before the period, where values are held over. */
  readonly countedFrom: Date;
  readonly upToPosition: bigint;
}

export interface UsageSeriesQuery {
  readonly customerId: string;
  readonly meter: Meter;
  /** One after the other, each from where the one before ends; at least one. */
  readonly windows: readonly Period[];
  /** Those of `meter.groupBy` by which the answer is told apart; the rest is counted together. */
  readonly groupBy: readonly string[];
  /** As of a {@link UsageQuery}. Left out: each window begins with nothing, unless the meter is recurring. */
  readonly heldSince?: Date | undefined;
}

/** The usage of each window, and of all of them as one period, as it was at one place of the stream. */
export interface UsageSeries {
  readonly windows: readonly (readonly GroupUsage[])[];
  readonly whole: readonly GroupUsage[];
  /** The first instant whose events move the first window. */
  readonly countedFrom: Date;
  readonly upToPosition: bigint;
}

export interface EventFilter {
  readonly customerId: string;
  /** Null: any. */
  readonly eventName: string | null;
  /** The first instant; null: from the beginning. */
  readonly from: Date | null;
  /** The first instant that is not asked for; null: to the end. */
  readonly to: Date | null;
}

export interface ProofQuery extends Pick<UsageQuery, 'customerId' | 'meter' | 'period'> {
  /** Times whose events no bill will count, as things stand at the moment of the proof; asked in its transaction. */
  readonly unbillableOf: () => Promise<readonly Period[]>;
}

/** What was taken of the events of a meter, and what became of it. */
export interface UsageProof {
  readonly accepted: bigint;
  /** Over the whole hours that the period touches, as `rejected`. */
  readonly duplicates: bigint;
  readonly rejected: bigint;
  readonly voided: bigint;
  /** Accepted, not voided, and fit for the meter. */
  readonly counted: bigint;
  /** Of those counted, those that are in every bill made of a period they move. */
  readonly billed: bigint;
  /** Of those counted, those that move no bill, and of which none is to come. */
  readonly unbillable: bigint;
  /** The others that count. */
  readonly pending: bigint;
  /** SHA-256, hex, over the keys of the accepted events, in order of timestamp and key, each ended by a line feed. */
  readonly digest: string;
}

/** A page of events; `after` is `next` of the page before. */
export interface EventPageRequest {
  readonly after: string | null;
  readonly limit: number;
}

export interface EventPage {
  readonly items: readonly StoredUsageEvent[];
  /** Null: this was the last page. */
  readonly next: string | null;
}

/**
 * Where usage is kept. Everything between metering and its storage goes through here, so that a store for many machines
 * can take the place of PostgreSQL; `test/contract/usage-store.ts` is what any store must pass.
 */
export abstract class UsageStore {
  /**
   * Stores events and moves all that is counted of them, in one commit: the caller's transaction if there is one. What it
   * answers is true once that has committed. An event whose key is known counts as a duplicate, or is rejected when its
   * content differs.
   * @param events read once, in order, with bounded memory; while they come, nothing is held that others wait for
   */
  abstract append(events: IncomingEvents): Promise<AppendResult>;

  /** The same for at most 1,000 events, in a commit that they may share with others that came at the same time; in no transaction. */
  abstract appendTogether(events: readonly IncomingEvent[]): Promise<AppendResult>;

  /** The exact usage of a period, by group, from running totals wherever they cover it. */
  abstract aggregate(query: UsageQuery): Promise<UsageReading>;

  /** The exact usage of many windows, read at one moment. */
  abstract series(query: UsageSeriesQuery): Promise<UsageSeries>;

  /**
   * The events that a reading counts, in order of time and place; those of one group, if it is given. First come those whose
   * values a weighted sum holds from before the period.
   * @throws {ProblemError} `invalid_cursor`
   */
  abstract counted(
    query: UsageQuery,
    group: Group | null,
    page: EventPageRequest,
  ): Promise<EventPage>;

  /**
   * Events as they were accepted, voided or not, newest first.
   * @throws {ProblemError} `invalid_cursor`
   */
  abstract list(filter: EventFilter, page: EventPageRequest): Promise<EventPage>;

  /** The event that was accepted under this key. */
  abstract find(idempotencyKey: string): Promise<StoredUsageEvent | null>;

  /**
   * Takes an event back, in one commit with all that is counted of it. One that was voided before stays as it is.
   * @throws {ProblemError} `usage_event_not_found`; `usage_late` where a meter takes no late usage
   */
  abstract void(idempotencyKey: string): Promise<StoredUsageEvent>;

  /** @throws {ProblemError} `too_many_events_to_prove` */
  abstract prove(query: ProofQuery): Promise<UsageProof>;
}
