import { Injectable } from '@nestjs/common';
import { Configuration } from '../../platform/config';
import type { UsageEvent } from './domain/usage-event';
import { type StreamPiece, StreamTurns } from './ingest/stream-turns';
import { type AppendResult, type IncomingEvent, type Rejection, UsageStore } from './usage-store';
import { MeteredNames, type UncountedEvents } from './metered-names';
import { usageEventRejected } from './usage.errors';

/** Item of a list of events: an event, or the rejection of a malformed item. */
export type UsageItem = IncomingEvent | Rejection;

/** Caller of a request whose events arrive over time. */
export interface UsageSender {
  /** Id of the caller. Limits how many long NDJSON bodies the caller can send at a time. Null: no limit. */
  readonly id: string | null;
  /** Throws a `ProblemError` if the caller has lost access since the request arrived. */
  requireAccess(): Promise<void>;
}

/** Result of reported events, with the events that no meter counts. */
export interface ReportResult extends AppendResult {
  readonly uncounted: readonly UncountedEvents[];
}

@Injectable()
export class UsageEventsService {
  private readonly turns: StreamTurns;

  constructor(
    private readonly store: UsageStore,
    private readonly meteredNames: MeteredNames,
    { databasePoolSize }: Configuration,
  ) {
    this.turns = new StreamTurns(databasePoolSize);
  }

  /** @throws {ProblemError} `usage_event_rejected` */
  async report(event: UsageEvent): Promise<ReportResult> {
    const result = await this.store.appendTogether([{ ...event, index: 0 }]);
    const [rejection] = result.rejected;
    if (rejection !== undefined) throw usageEventRejected(rejection);
    return this.withUncounted(result, new Map([[event.eventName, 1]]));
  }

  /** Stores a list of events. `rejected` of the result has malformed items and refused events, with their indexes. */
  async reportAll(items: readonly UsageItem[]): Promise<ReportResult> {
    const [events, malformed] = partition(items);
    const names = new ReportedNames();
    names.add(events);
    const result = withMalformed(await this.store.appendTogether(events), malformed);
    return this.withUncounted(result, names.countsWithout(result.rejected));
  }

  /**
   * Reads events while they arrive, and stores them in one commit. If the request body ends early, or the sender loses
   * access before its end, nothing is stored.
   */
  async reportStream(
    pieces: AsyncIterable<StreamPiece<UsageItem>>,
    sender: UsageSender,
  ): Promise<ReportResult> {
    const names = new ReportedNames();
    const malformed: Rejection[] = [];
    const result = await this.turns.run(pieces, sender.id, async (items) => {
      const events = readable(whilePermitted(items, sender), malformed, names);
      return withMalformed(await this.store.append(events), malformed);
    });
    return this.withUncounted(result, names.countsWithout(result.rejected));
  }

  /** @param counts number of accepted or duplicate events by name */
  private async withUncounted(
    result: AppendResult,
    counts: ReadonlyMap<string, number>,
  ): Promise<ReportResult> {
    return { ...result, uncounted: await this.meteredNames.findUncounted(counts) };
  }
}

/** Names of reported events, of which a body may have 100,000. Equal names share one string, which saves memory. */
class ReportedNames {
  private readonly byIndex: string[] = [];
  private readonly known = new Map<string, string>();

  add(events: readonly IncomingEvent[]): void {
    for (const { index, eventName } of events) {
      const name = this.known.get(eventName) ?? eventName;
      this.known.set(name, name);
      this.byIndex[index] = name;
    }
  }

  /** Returns the number of events by name, without the rejected ones. */
  countsWithout(rejected: readonly Rejection[]): ReadonlyMap<string, number> {
    const without = new Set(rejected.map(({ index }) => index));
    const counts = new Map<string, number>();
    // `forEach` skips the indexes of malformed items, which have no name.
    this.byIndex.forEach((name, index) => {
      if (!without.has(index)) counts.set(name, (counts.get(name) ?? 0) + 1);
    });
    return counts;
  }
}

async function* whilePermitted<Item>(
  pieces: AsyncIterable<Item>,
  sender: UsageSender,
): AsyncGenerator<Item> {
  for await (const piece of pieces) {
    await sender.requireAccess();
    yield piece;
  }
  await sender.requireAccess();
}

async function* readable(
  pieces: AsyncIterable<readonly UsageItem[]>,
  malformed: Rejection[],
  names: ReportedNames,
): AsyncGenerator<readonly IncomingEvent[]> {
  for await (const items of pieces) {
    const [events, faults] = partition(items);
    malformed.push(...faults);
    names.add(events);
    yield events;
  }
}

function partition(items: readonly UsageItem[]): [IncomingEvent[], Rejection[]] {
  const events: IncomingEvent[] = [];
  const malformed: Rejection[] = [];
  for (const item of items) {
    if ('code' in item) malformed.push(item);
    else events.push(item);
  }
  return [events, malformed];
}

function withMalformed(result: AppendResult, malformed: readonly Rejection[]): AppendResult {
  if (malformed.length === 0) return result;
  const rejected = [...malformed, ...result.rejected].sort((a, b) => a.index - b.index);
  return { ...result, rejected };
}
