import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import { CustomersService } from '../../customers';
import { noMeterIsMade, slotOf } from './meters-lock';
import type { StreamName } from './staged-events';
import { streamKey } from './usage-streams';

/** What an event may meet in a stream, true as long as the stream has this version. */
export interface KnownStream {
  readonly id: string;
  readonly version: string;
  /** Events from this instant on are in no period that was billed and in no registered window; milliseconds since 1970. */
  readonly plainFromMs: number;
}

interface Entry extends KnownStream {
  readonly learnedAtMs: number;
}

interface StreamRow extends StreamName {
  readonly id: string;
  readonly version: string;
  readonly plainFromMs: number | null;
}

/**
 * Nothing of a name while storing its events is held for a new meter: that commit changes the versions of the streams it
 * sees. A stream that was committed after it looked keeps its version, and the fast path could store an event there that the
 * meter does not count.
 */
const READ = `
  SELECT id, version, customer_id AS "customerId", event_name AS "eventName",
    (extract(epoch FROM greatest(
      (SELECT max(period_end_at) FROM usage_billed WHERE stream_id = stream.id),
      (SELECT max(end_at) FROM usage_window WHERE stream_id = stream.id)
    )) * 1000)::float8 AS "plainFromMs"
  FROM usage_stream AS stream
  WHERE (customer_id, event_name) IN (
    SELECT customer_id, event_name FROM unnest($1::text[], $2::text[], $3::int[]) AS asked(customer_id, event_name, slot)
    WHERE ${noMeterIsMade('slot')}
  )`;

const MOST_KNOWN = 50_000;
/** Of a stream that is no longer watched nobody hears otherwise. */
const GOOD_FOR_MS = 60_000;

/**
 * What this process knows of streams: which of their events need nothing but to be stored and counted. Only streams of
 * customers who are there and live in real time. What is known may be out of date, and then the version of the stream is
 * another one: who relies on it compares it with the row that it holds.
 */
@Injectable()
export class KnownStreams {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly database: Database,
    private readonly customers: CustomersService,
  ) {}

  get(name: StreamName): KnownStream | undefined {
    const entry = this.entries.get(streamKey(name));
    if (entry === undefined || performance.now() - entry.learnedAtMs < GOOD_FOR_MS) return entry;
    return undefined;
  }

  /** Reads what there is to know. Streams that do not exist yet stay unknown, and those of whose events a meter is made. */
  async learn(names: readonly StreamName[]): Promise<void> {
    const rows = await this.database.prepared<StreamRow>('usage-streams-learn', READ, [
      names.map(({ customerId }) => customerId),
      names.map(({ eventName }) => eventName),
      names.map(({ eventName }) => slotOf(eventName)),
    ]);
    // After the streams: a customer who is deleted in between is not found, and one deleted later outdates the version.
    const customerIds = [...new Set(rows.map(({ customerId }) => customerId))];
    const inRealTime = await this.customers.inRealTime(customerIds);
    if (this.entries.size > MOST_KNOWN) this.entries.clear();
    const learnedAtMs = performance.now();
    for (const row of rows) {
      const { id, version, plainFromMs } = row;
      this.entries.set(streamKey(row), {
        id,
        version,
        plainFromMs: inRealTime.has(row.customerId) ? (plainFromMs ?? -Infinity) : Infinity,
        learnedAtMs,
      });
    }
  }

  forget(name: StreamName): void {
    this.entries.delete(streamKey(name));
  }
}
