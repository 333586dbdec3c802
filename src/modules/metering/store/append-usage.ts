import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { Database, IDLE_IN_TRANSACTION_TIMEOUT_MS } from '../../../platform/database';
import { CustomersService } from '../../customers';
import type { Appended } from './append-result';
import { type Recorded, toLateUsage } from './appended';
import { LateUsageWriter } from './late-usage-writer';
import { holdMeters } from './meters-lock';
import { NO_STREAM, StagedEvents, type StagedStream, type StreamName } from './staged-events';
import type { IncomingEvent, IncomingEvents } from './usage-store';
import { type Patience, UsageStreams } from './usage-streams';
import { WatchedWindows } from './watched-windows';

/** How far ahead of its customer's time an event may lie: clocks differ, and reports come in local time. */
const FARTHEST_AHEAD_MS = 24 * 3_600_000;

/** A hundred thousand lines take seconds, and wait longer for their turn than a single event would. */
const LONG_WORK = { statementMs: 600_000, lockMs: 60_000 };

const NOTHING: Appended = { accepted: 0, missed: [] };

/** Stores events and moves what is counted of them. */
@Injectable()
export class AppendUsage {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly streams: UsageStreams,
    private readonly late: LateUsageWriter,
    private readonly windows: WatchedWindows,
    private readonly clock: Clock,
  ) {}

  /**
   * @param patience `skip` leaves out requests with events whose streams somebody holds
   * @param requestOf of each event its request; no more of them than fit into memory
   */
  async append(
    events: IncomingEvents,
    patience: Patience = 'wait',
    requestOf: readonly number[] = [],
  ): Promise<Appended> {
    const staged = new StagedEvents(this.database);
    const pieces = piecesOf(events);
    const hasMore = await fill(staged, pieces);
    if (staged.length === 0) return NOTHING;
    if (!hasMore) return this.database.transaction(() => this.record(staged, patience, requestOf));
    // What was read cannot be read again: a deadlock has only the part after that done anew.
    return this.database.transaction(
      async () => {
        // Pauses are those of the client, which its own limits end. It holds no lock that others wait for.
        await this.database.allowLongWork({ ...LONG_WORK, idleMs: 0 });
        await staged.moveToTable();
        for await (const piece of pieces) {
          for (const event of piece) staged.add(event);
          await staged.flush(false);
        }
        await staged.flush();
        await this.database.allowLongWork({
          ...LONG_WORK,
          idleMs: IDLE_IN_TRANSACTION_TIMEOUT_MS,
        });
        return this.database.savepoint(() => this.record(staged, patience, requestOf));
      },
      { tries: 1 },
    );
  }

  private async record(
    staged: StagedEvents,
    patience: Patience,
    requestOf: readonly number[],
  ): Promise<Appended> {
    const streams = await this.holdStreams(staged, patience);
    const customers = customersOf(staged.streams, streams);
    const now = this.clock.now();
    const parameters = [now, staged.earliestAt, ...staged.parameters(streams, requestOf)];
    const { earliestAt, latestAt } = staged;
    const recorded = await this.windows.around({ customers, earliestAt, latestAt }, () =>
      this.store(staged, parameters),
    );
    await this.late.write(toLateUsage(recorded, customers), now);
    const missing = staged.length - recorded.accepted;
    if (missing === 0) return { accepted: recorded.accepted, missed: [] };
    const missed = await this.judge(staged, parameters);
    invariant(missed.length === missing, 'Each event that was not stored is judged.');
    return { accepted: recorded.accepted, missed };
  }

  private async store(staged: StagedEvents, parameters: readonly unknown[]): Promise<Recorded> {
    const sql = staged.statements.record;
    const [recorded] = staged.isInTable
      ? await this.database.query<Recorded>(sql, parameters)
      : await this.database.prepared<Recorded>('usage-record', sql, parameters);
    invariant(recorded !== undefined, 'A statement that stores usage tells what it stored.');
    return recorded;
  }

  private judge(
    staged: StagedEvents,
    parameters: readonly unknown[],
  ): Promise<Appended['missed'][number][]> {
    return this.database.query(staged.statements.judge, parameters);
  }

  private async holdStreams(
    staged: StagedEvents,
    patience: Patience,
  ): Promise<readonly StagedStream[]> {
    const names = staged.streams;
    const eventNames = names.map(({ eventName }) => eventName);
    const beingMetered = await holdMeters(this.database, eventNames, patience);
    const customerIds = [...new Set(names.map(({ customerId }) => customerId))];
    const times = await this.customers.timesOf(customerIds);
    const held = await this.streams.hold(
      names,
      ({ customerId }) => times.has(customerId),
      patience,
    );
    return names.map(({ customerId, eventName }, no) => {
      const stream = beingMetered.has(eventName) ? 'busy' : (held[no] ?? null);
      const now = times.get(customerId);
      if (stream === 'busy') return { ...NO_STREAM, refusal: 'busy' };
      // A customer who was there, and whose stream could not be held, went with a test clock.
      const isThere = now !== undefined && stream !== null;
      return {
        id: stream?.id ?? null,
        lastPosition: stream?.lastPosition ?? null,
        refusal: isThere ? null : 'customer_not_found',
        lastInstant: isThere ? lastInstantAt(now) : null,
      };
    });
  }
}

/** By the streams that are held. */
function customersOf(
  names: readonly StreamName[],
  streams: readonly StagedStream[],
): ReadonlyMap<string, string> {
  return new Map(
    names.flatMap(({ customerId }, no): [string, string][] => {
      const id = streams[no]?.id ?? null;
      return id === null ? [] : [[id, customerId]];
    }),
  );
}

/** The last instant at which an event may have happened. */
export function lastInstantAt(now: Date): Date {
  return new Date(now.getTime() + FARTHEST_AHEAD_MS);
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
