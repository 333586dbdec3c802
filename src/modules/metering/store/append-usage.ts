import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { CustomersService } from '../../customers';
import { FIRST_STAGED, judgeSql, recordSql } from './append-sql';
import { holdMeters } from './meters-lock';
import { StagedEvents } from './staged-events';
import type { AppendResult, IncomingEvent, Rejection } from './usage-store';
import { rejectionOf, type Refusal } from './usage-refusals';
import { UsageStreams } from './usage-streams';

/** How far ahead of its customer's time an event may lie: clocks differ, and reports come in local time. */
const FARTHEST_AHEAD_MS = 24 * 3_600_000;

interface Recorded {
  readonly accepted: number;
  readonly missed: readonly (readonly [index: number, refusal: Refusal | null])[];
  readonly late: readonly { readonly billedId: string; readonly events: number }[];
}

interface Judged {
  readonly index: number;
  readonly verdict: Refusal | 'duplicate' | null;
}

/** Stores events and moves what is counted of them. */
@Injectable()
export class AppendUsage {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly streams: UsageStreams,
    private readonly clock: Clock,
  ) {}

  append(events: Iterable<IncomingEvent> | AsyncIterable<IncomingEvent>): Promise<AppendResult> {
    // What was read cannot be read again: a deadlock has only the part after that done anew.
    return this.database.transaction(
      async () => {
        const staged = new StagedEvents(this.database);
        for await (const event of events) await staged.add(event);
        await staged.end();
        if (staged.streams.length === 0) return { accepted: 0, duplicates: 0, rejected: [] };
        return this.database.part(() => this.record(staged));
      },
      { tries: 1 },
    );
  }

  private async record(staged: StagedEvents): Promise<AppendResult> {
    const streams = await this.holdStreams(staged);
    const { sql, parameters } = staged.source(FIRST_STAGED);
    const now = this.clock.now();
    const [recorded] = await this.database.query<Recorded>(recordSql(sql), [
      ...streams,
      staged.earliestAt,
      now,
      ...parameters,
    ]);
    invariant(recorded !== undefined, 'A statement that stores usage tells what it stored.');
    const { accepted, missed } = recorded;
    if (missed.length === 0) return { accepted, duplicates: 0, rejected: [] };
    const judged = await this.database.query<Judged>(judgeSql(sql), [
      ...streams,
      missed.map(([index]) => index),
      missed.map(([, refusal]) => refusal),
      ...parameters,
    ]);
    invariant(judged.length === missed.length, 'Each event that was not stored is judged.');
    return { accepted, ...outcomeOf(judged) };
  }

  /** The streams of the events, held, as the parameters of the statements. */
  private async holdStreams(staged: StagedEvents): Promise<readonly unknown[]> {
    await holdMeters(this.database);
    const names = staged.streams;
    const customerIds = [...new Set(names.map(({ customerId }) => customerId))];
    const times = await this.customers.timesOf(customerIds);
    const held = await this.streams.hold(names, ({ customerId }) => times.has(customerId));
    const lastInstants = names.map(({ customerId }) => {
      const time = times.get(customerId);
      return time === undefined ? null : new Date(time.getTime() + FARTHEST_AHEAD_MS);
    });
    return [
      names.map((_, no) => no),
      held.map((stream) => stream?.id ?? null),
      held.map((stream) => stream?.lastPosition ?? null),
      names.map(({ eventName }) => eventName),
      lastInstants,
    ];
  }
}

function outcomeOf(judged: readonly Judged[]): Pick<AppendResult, 'duplicates' | 'rejected'> {
  const rejected: Rejection[] = [];
  let duplicates = 0;
  for (const { index, verdict } of judged) {
    invariant(verdict !== null, 'An event is not stored for a reason.');
    if (verdict === 'duplicate') duplicates += 1;
    else rejected.push(rejectionOf(index, verdict));
  }
  return { duplicates, rejected };
}
