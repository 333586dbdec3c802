import type { Rational } from '../../../core/decimal';
import type { Period } from '../../../core/time';
import type { Meter } from '../domain/meter';
import type { UsageEvent } from '../domain/usage-event';

/** An event of a request, at its place in it: the index in the list, or the line from 0. */
export interface IncomingEvent extends UsageEvent {
  readonly index: number;
}

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
  /** Only events up to this place of the stream, voids as they were there; null: all. For what a line once counted. */
  readonly upToPosition: bigint | null;
}

/** The usage of one group; the group is `[]` for a meter without `groupBy`. */
export interface GroupUsage {
  /** The text of each property of `meter.groupBy`, null where an event lacks it. */
  readonly group: readonly (string | null)[];
  readonly value: Rational;
  readonly events: bigint;
}

/** Usage as it was at one place of the stream. */
export interface UsageReading {
  readonly groups: readonly GroupUsage[];
  readonly upToPosition: bigint;
}

export interface EventFilter {
  readonly customerId: string | null;
  readonly eventName: string | null;
  readonly period: { readonly from: Date | null; readonly to: Date | null };
}

/** What was taken of the events of a meter, and what became of it. */
export interface UsageProof {
  readonly accepted: bigint;
  readonly duplicates: bigint;
  readonly rejected: bigint;
  readonly voided: bigint;
  /** Accepted, not voided, and fit for the meter. */
  readonly counted: bigint;
  /** Of those counted, those in periods that were billed, as far as they were there. */
  readonly billed: bigint;
  readonly pending: bigint;
  /** SHA-256, hex, over the keys of the accepted events, in order of timestamp and key, each ended by a line feed. */
  readonly digest: string;
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
   * @param events read once, in order, with bounded memory
   */
  abstract append(
    events: Iterable<IncomingEvent> | AsyncIterable<IncomingEvent>,
  ): Promise<AppendResult>;
}
