import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { Outbox } from '../../../platform/outbox';
import { CustomersService } from '../../customers';
import { UsageWatchers } from '../usage-watchers';
import { usageLate } from '../usage.events';
import type { Appended } from './append-result';
import { FIRST_STAGED, judgeSql, recordSql } from './append-sql';
import { type Recorded, toLateUsage, toMovedWindows } from './appended';
import { holdMeters } from './meters-lock';
import { StagedEvents } from './staged-events';
import type { IncomingEvent, IncomingEvents } from './usage-store';
import { type Patience, UsageStreams } from './usage-streams';

/** How far ahead of its customer's time an event may lie: clocks differ, and reports come in local time. */
const FARTHEST_AHEAD_MS = 24 * 3_600_000;

/** A hundred thousand lines take seconds, and wait longer for their turn than a single event would. */
const ALLOW_LONG_WORK = `SET LOCAL statement_timeout = '10min'; SET LOCAL lock_timeout = '1min'`;

const NOTHING: Appended = { accepted: 0, missed: [] };

/** Stores events and moves what is counted of them. */
@Injectable()
export class AppendUsage {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly streams: UsageStreams,
    private readonly outbox: Outbox,
    private readonly watchers: UsageWatchers,
    private readonly clock: Clock,
  ) {}

  /** @param patience `skip` leaves out events whose streams somebody holds */
  async append(events: IncomingEvents, patience: Patience = 'wait'): Promise<Appended> {
    const staged = new StagedEvents(this.database);
    const pieces = piecesOf(events);
    const hasMore = await fill(staged, pieces);
    if (staged.isEmpty) return NOTHING;
    if (!hasMore) return this.database.transaction(() => this.record(staged, patience));
    // What was read cannot be read again: a deadlock has only the part after that done anew.
    return this.database.transaction(
      async () => {
        await this.database.query(ALLOW_LONG_WORK);
        await staged.moveToTable();
        for await (const piece of pieces) {
          for (const event of piece) staged.add(event);
          await staged.flush(false);
        }
        await staged.flush();
        return this.database.part(() => this.record(staged, patience));
      },
      { tries: 1 },
    );
  }

  private async record(staged: StagedEvents, patience: Patience): Promise<Appended> {
    await holdMeters(this.database);
    const streams = await this.holdStreams(staged, patience);
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
    for (const late of toLateUsage(recorded, staged.streams)) {
      await this.outbox.record(usageLate, { after: late, occurredAt: now });
    }
    await this.watchers.tell(toMovedWindows(recorded, staged.streams));
    if (missed.length === 0) return { accepted, missed: [] };
    const judged = await this.database.query<Appended['missed'][number]>(judgeSql(sql), [
      ...streams,
      missed.map(([index]) => index),
      missed.map(([, refusal]) => refusal),
      ...parameters,
    ]);
    invariant(judged.length === missed.length, 'Each event that was not stored is judged.');
    return { accepted, missed: judged };
  }

  /** The streams of the events, held, as the parameters of the statements. */
  private async holdStreams(staged: StagedEvents, patience: Patience): Promise<readonly unknown[]> {
    const names = staged.streams;
    const customerIds = [...new Set(names.map(({ customerId }) => customerId))];
    const times = await this.customers.timesOf(customerIds);
    const held = await this.streams.hold(
      names,
      ({ customerId }) => times.has(customerId),
      patience,
    );
    const refusals = names.map(({ customerId }, no) => {
      if (held[no] === 'busy') return 'busy';
      return times.has(customerId) ? null : 'customer_not_found';
    });
    const streams = held.map((stream) => (stream === 'busy' ? null : stream));
    return [
      names.map((_, no) => no),
      streams.map((stream) => stream?.id ?? null),
      streams.map((stream) => stream?.lastPosition ?? null),
      names.map(({ eventName }) => eventName),
      refusals,
      names.map(({ customerId }) => lastInstantAt(times.get(customerId))),
    ];
  }
}

function lastInstantAt(now: Date | undefined): Date | null {
  return now === undefined ? null : new Date(now.getTime() + FARTHEST_AHEAD_MS);
}

async function* piecesOf(events: IncomingEvents): AsyncGenerator<readonly IncomingEvent[]> {
  if (Symbol.asyncIterator in events) yield* events;
  else yield [...events];
}

/** Takes events until there are no more, or more than memory is for; whether there may be more. */
async function fill(
  staged: StagedEvents,
  pieces: AsyncGenerator<readonly IncomingEvent[]>,
): Promise<boolean> {
  while (!staged.isFull) {
    const piece = await pieces.next();
    if (piece.done === true) return false;
    for (const event of piece.value) staged.add(event);
  }
  return true;
}
