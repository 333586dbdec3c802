import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { CustomersService } from '../../customers';
import { LateUsageWriter } from '../store/late-usage-writer';
import { lockMeters } from '../store/meter-locks';
import { type OnBusy, type StreamName, UsageStreams } from '../store/usage-streams';
import { WindowChanges } from '../store/window-changes';
import type { IncomingEvent, IncomingEvents } from '../usage-store';
import type { AppendOutcome } from './append-outcome';
import { type RecordedUsage, toLateUsage } from './recorded-usage';
import { NO_STREAM, StagedEvents, type StagedStream } from './staged-events';

/** Events may be this far in the future, because clocks and time zones of the senders differ. */
const MAX_AHEAD_MS = 24 * 3_600_000;

/** Time limits for NDJSON of up to 100,000 lines, which may wait longer for locks than a single event. */
const LONG_WORK = { statementMs: 600_000, lockMs: 60_000 };

const NO_EVENTS: AppendOutcome = { accepted: 0, notStored: [] };

/**
 * Slow path of ingest: stores events in a transaction that checks customers and billed periods, updates all totals, and
 * runs the usage hooks (callbacks of other modules).
 */
@Injectable()
export class AppendUsage {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    private readonly streams: UsageStreams,
    private readonly late: LateUsageWriter,
    private readonly windows: WindowChanges,
    private readonly clock: Clock,
  ) {}

  /**
   * Stores events in one transaction. The caller must not have an open transaction if there are more than
   * `MAX_EVENTS_IN_MEMORY` events.
   * @param onBusy `wait`: waits for locks. Otherwise, leaves out a request that would wait for one of its streams (one
   *   customer, one event name), or for the creation of a meter
   * @param requestOf for each event, the index of its request, if several requests are written together. At most
   *   `MAX_EVENTS_IN_MEMORY` events are then allowed
   */
  async append(
    events: IncomingEvents,
    onBusy: OnBusy = 'wait',
    requestOf: readonly number[] = [],
  ): Promise<AppendOutcome> {
    const staged = new StagedEvents();
    const pieces = piecesOf(events);
    const hasMore = await stageUntilFull(staged, pieces);
    if (staged.length === 0) return NO_EVENTS;
    if (!hasMore) return this.database.transaction(() => this.record(staged, onBusy, requestOf));
    return this.database.withConnection(async (connection) => {
      await staged.moveToTable(connection);
      for await (const piece of pieces) {
        for (const event of piece) staged.add(event);
        await staged.flush(false);
      }
      await staged.flush();
      // Begins only now: a transaction that stays open while a client sends would keep the audit log unsealed.
      const record = async (): Promise<AppendOutcome> => {
        await this.database.setTransactionTimeouts(LONG_WORK);
        return this.record(staged, onBusy, requestOf);
      };
      return this.database.transaction(record, { source: connection });
    });
  }

  private async record(
    staged: StagedEvents,
    onBusy: OnBusy,
    requestOf: readonly number[],
  ): Promise<AppendOutcome> {
    const streams = await this.lockStreams(staged, onBusy);
    const customers = customersOf(staged.streams, streams);
    const now = this.clock.now();
    const parameters = [now, staged.earliestAt, ...staged.parameters(streams, requestOf)];
    const { earliestAt, latestAt } = staged;
    const recorded = await this.store(staged, parameters);
    if (recorded.accepted > 0) await this.windows.report({ customers, earliestAt, latestAt });
    await this.late.write(toLateUsage(recorded, customers), now);
    const missing = staged.length - recorded.accepted;
    if (missing === 0) return { accepted: recorded.accepted, notStored: [] };
    const notStored = await this.database.query<AppendOutcome['notStored'][number]>(
      staged.statements.classify,
      parameters,
    );
    invariant(notStored.length === missing, 'Each event that was not stored has a result.');
    return { accepted: recorded.accepted, notStored };
  }

  private async store(
    staged: StagedEvents,
    parameters: readonly unknown[],
  ): Promise<RecordedUsage> {
    const sql = staged.statements.record;
    const [recorded] = staged.isInTable
      ? await this.database.query<RecordedUsage>(sql, parameters)
      : await this.database.queryPrepared<RecordedUsage>('usage-record', sql, parameters);
    invariant(recorded !== undefined, 'The statement that stores usage returns a row.');
    return recorded;
  }

  /**
   * Locks the event names, so that no meter is created for them, and then the streams (one customer, one event name).
   * Returns the state of each stream, or the reason why its events are refused.
   */
  private async lockStreams(
    staged: StagedEvents,
    onBusy: OnBusy,
  ): Promise<readonly StagedStream[]> {
    const names = staged.streams;
    const eventNames = names.map(({ eventName }) => eventName);
    const busyNames = await lockMeters(this.database, eventNames, onBusy);
    const locked = await this.streams.lock(
      names,
      (missing) => this.withoutUnknown(missing),
      onBusy,
    );
    // Read once the streams are locked, because a deletion of their customer may have locked them until now.
    const times = await this.timesOf(names);
    return names.map(({ customerId, eventName }, number) => {
      const stream = busyNames.has(eventName) ? 'busy' : (locked[number] ?? null);
      const now = times.get(customerId);
      if (stream === 'busy') return { ...NO_STREAM, refusal: 'busy' };
      // Without a stream, the customer did not exist when missing streams were created.
      const exists = now !== undefined && stream !== null;
      return {
        id: stream?.id ?? null,
        lastPosition: stream?.lastPosition ?? null,
        refusal: exists ? null : 'customer_not_found',
        lastInstant: exists ? lastInstantAt(now) : null,
        closedBefore: stream?.closedBefore ?? null,
      };
    });
  }

  /** Returns the streams of customers that exist and are not deleted. */
  private async withoutUnknown(names: readonly StreamName[]): Promise<readonly StreamName[]> {
    const times = await this.timesOf(names);
    return names.filter(({ customerId }) => times.has(customerId));
  }

  private timesOf(names: readonly StreamName[]): Promise<ReadonlyMap<string, Date>> {
    return this.customers.currentTimesOf([...new Set(names.map(({ customerId }) => customerId))]);
  }
}

/** Returns customer ids by stream id. */
function customersOf(
  names: readonly StreamName[],
  streams: readonly StagedStream[],
): ReadonlyMap<string, string> {
  return new Map(
    names.flatMap(({ customerId }, number): [string, string][] => {
      const id = streams[number]?.id ?? null;
      return id === null ? [] : [[id, customerId]];
    }),
  );
}

/**
 * Returns the latest timestamp that an event may have.
 * @param now current time of the customer of the event
 */
export function lastInstantAt(now: Date): Date {
  return new Date(now.getTime() + MAX_AHEAD_MS);
}

async function* piecesOf(events: IncomingEvents): AsyncGenerator<readonly IncomingEvent[]> {
  if (Symbol.asyncIterator in events) yield* events;
  else yield [...events];
}

/** Adds events until none is left or memory is full. Returns true if there may be more events. */
async function stageUntilFull(
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
