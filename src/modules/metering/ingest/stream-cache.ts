import { Injectable } from '@nestjs/common';
import { Database, listOfAnyLength } from '../../../platform/database';
import { ProcessSession } from '../../../platform/processes';
import { CustomersService } from '../../customers';
import { noMeterIsCreated, slotOf } from '../store/meter-locks';
import { streamKey, type StreamName } from '../store/usage-streams';

/** State of a stream (one customer, one event name) for the fast path. Valid while the stream has this version. */
export interface CachedStream {
  readonly id: string;
  readonly version: string;
  /**
   * Events from this time on are in no billed period and in no month that is closed for the archive. They therefore
   * need no transaction of their own. Milliseconds since 1970. Infinity: all events of the stream need one.
   */
  readonly openFromMs: number;
  /** Events from this time on are in no registered window (period with totals of its own). Milliseconds since 1970. */
  readonly windowsEndMs: number;
  /**
   * Number of times that the database session of the process had changed when the state was read. The next change
   * invalidates the state.
   */
  readonly sessionChanges: number;
}

interface CachedStreamRow extends StreamName {
  readonly id: string;
  readonly version: string;
  readonly openFromMs: number | null;
  readonly windowsEndMs: number | null;
}

/**
 * Reads the state of streams. Leaves out event names for which a meter is being created. The creation increments only
 * the versions of the streams that it sees. Another stream, if it were cached now, would keep its version. The fast
 * path could then store events of this stream that the meter does not count.
 */
const READ = `
  SELECT id, version, customer_id AS "customerId", event_name AS "eventName",
    (extract(epoch FROM greatest(
      (SELECT max(period_end_at) FROM usage_billed WHERE stream_id = stream.id), stream.closed_before
    )) * 1000)::float8 AS "openFromMs",
    (extract(epoch FROM (SELECT max(end_at) FROM usage_window WHERE stream_id = stream.id)) * 1000)::float8 AS "windowsEndMs"
  FROM usage_stream AS stream
  WHERE (customer_id, event_name) IN (
    SELECT customer_id, event_name FROM unnest(
      ${listOfAnyLength('$1', 'text')}, ${listOfAnyLength('$2', 'text')}, ${listOfAnyLength('$3', 'int')}
    ) AS requested(customer_id, event_name, slot)
    WHERE ${noMeterIsCreated('slot')}
  )`;

/** Maximum number of entries in each of the two generations of {@link StreamCache}. An entry takes about 300 bytes. */
const MAX_ENTRIES = 150_000;

/**
 * Caches the state of streams (one customer, one event name). The state decides whether an event can be stored without
 * a transaction. Events of deleted customers and of customers on test clocks always need a transaction. An outdated
 * entry is harmless, because the statement that uses it compares its version with the locked row. The cache is emptied
 * when the database session of this process ends. The next session may be on a standby that lacks the last commits, and
 * that would assign the same ids and versions again.
 */
@Injectable()
export class StreamCache {
  private youngGeneration = new Map<string, CachedStream>();
  /**
   * Former young generation. A lookup copies the entry that it finds to the young generation. Once the young generation
   * is full as well, it becomes the old one, and the entries here are dropped.
   */
  private oldGeneration = new Map<string, CachedStream>();
  private sessionChanges = 0;

  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
    session: ProcessSession,
  ) {
    session.onChange(() => {
      this.sessionChanges += 1;
      this.youngGeneration.clear();
      this.oldGeneration.clear();
    });
  }

  get(name: StreamName): CachedStream | undefined {
    const key = streamKey(name);
    const entry = this.youngGeneration.get(key);
    if (entry !== undefined) return entry;
    const older = this.oldGeneration.get(key);
    if (older !== undefined) this.put(key, older);
    return older;
  }

  /** Returns true if the database session of this process has not changed since the state was read. */
  isOfSession({ sessionChanges }: CachedStream): boolean {
    return sessionChanges === this.sessionChanges;
  }

  /**
   * Caches the state of streams. Leaves out streams that do not exist yet, and streams for which a meter is being
   * created. Caches nothing if the database session changes during the reading.
   */
  async read(names: readonly StreamName[]): Promise<void> {
    const { sessionChanges } = this;
    const rows = await this.database.queryPrepared<CachedStreamRow>('usage-streams-cache', READ, [
      names.map(({ customerId }) => customerId),
      names.map(({ eventName }) => eventName),
      names.map(({ eventName }) => slotOf(eventName)),
    ]);
    // Reads customers after their streams: a customer who is already deleted is not found, and a later deletion
    // increments the versions of the customer's streams.
    const customerIds = [...new Set(rows.map(({ customerId }) => customerId))];
    const inRealTime = await this.customers.filterWithoutTestClock(customerIds);
    if (sessionChanges !== this.sessionChanges) return;
    for (const row of rows) {
      const { id, version, openFromMs, windowsEndMs } = row;
      this.put(streamKey(row), {
        id,
        version,
        openFromMs: inRealTime.has(row.customerId) ? (openFromMs ?? -Infinity) : Infinity,
        windowsEndMs: windowsEndMs ?? -Infinity,
        sessionChanges,
      });
    }
  }

  forget(name: StreamName): void {
    this.youngGeneration.delete(streamKey(name));
    this.oldGeneration.delete(streamKey(name));
  }

  private put(key: string, entry: CachedStream): void {
    if (this.youngGeneration.size >= MAX_ENTRIES) {
      this.oldGeneration = this.youngGeneration;
      this.youngGeneration = new Map();
    }
    this.youngGeneration.set(key, entry);
  }
}
