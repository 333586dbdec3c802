import { Injectable } from '@nestjs/common';
import { invariant } from '../../../core/invariant';
import { Database } from '../../../platform/database';
import type { StreamName } from './staged-events';

export interface HeldStream {
  readonly id: string;
  readonly lastPosition: string;
}

interface StreamRow extends HeldStream, StreamName {}

const FIND = `
  SELECT id, customer_id AS "customerId", event_name AS "eventName"
  FROM usage_stream
  WHERE (customer_id, event_name) IN (SELECT * FROM unnest($1::text[], $2::text[]))`;

/**
 * In one order for everybody: whoever makes the same streams at the same time waits for the first. Not for customers who
 * go with their test clock meanwhile.
 */
const MAKE = `
  INSERT INTO usage_stream (customer_id, event_name, last_position)
  SELECT customer.id, new.event_name, 0
  FROM unnest($1::text[], $2::text[]) AS new(customer_id, event_name) JOIN customer ON customer.id = new.customer_id
  ORDER BY customer.id COLLATE "C", new.event_name COLLATE "C"
  FOR KEY SHARE OF customer
  ON CONFLICT DO NOTHING`;

const HOLD = `
  SELECT id, customer_id AS "customerId", event_name AS "eventName", last_position AS "lastPosition"
  FROM usage_stream
  WHERE id = ANY($1)
  ORDER BY id
  FOR UPDATE`;

const HOLD_ALL = 'SELECT FROM usage_stream WHERE customer_id = ANY ($1) ORDER BY id FOR UPDATE';

const OUTDATE = `
  UPDATE usage_stream SET version = version + 1
  WHERE id IN (SELECT id FROM usage_stream WHERE customer_id = $1 ORDER BY id FOR UPDATE)`;

/** What to do about streams that somebody else holds. */
export type Patience = 'wait' | 'skip';

/** The order of the events of a customer under a name. Whoever writes to a stream, or bills it, holds it. */
@Injectable()
export class UsageStreams {
  constructor(private readonly database: Database) {}

  /**
   * Holds the streams until the transaction ends, in ascending order of their ids, so that no two callers wait for each
   * other. Those that are missing are made if asked for, and left out otherwise.
   * @returns the streams in the order of the names; null where there is none, or none any more, `busy` where somebody
   * holds it and is not waited for
   */
  async hold(
    names: readonly StreamName[],
    isToBeMade: (name: StreamName) => boolean,
    patience: Patience,
  ): Promise<readonly (HeldStream | 'busy' | null)[]> {
    this.database.requireTransaction();
    const found = await this.find(names);
    const missing = names.filter((name) => !found.has(streamKey(name)) && isToBeMade(name));
    if (missing.length > 0) {
      await this.database.query(MAKE, columnsOf(missing));
      for (const [key, id] of await this.find(missing)) found.set(key, id);
    }
    const sql = patience === 'wait' ? HOLD : `${HOLD} SKIP LOCKED`;
    const held = await this.database.prepared<StreamRow>(`usage-streams-${patience}`, sql, [
      [...found.values()],
    ]);
    const streams = new Map(held.map((stream) => [streamKey(stream), stream]));
    return names.map((name) => {
      const isBusy = patience === 'skip' && found.has(streamKey(name));
      return streams.get(streamKey(name)) ?? (isBusy ? 'busy' : null);
    });
  }

  /** Holds all streams of customers until the transaction ends. One that is made meanwhile comes after them in the order. */
  async holdAll(customerIds: readonly string[]): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(HOLD_ALL, [customerIds]);
  }

  /** Holds one stream until the transaction ends, and makes it if it is missing; its id. */
  async holdOne(name: StreamName): Promise<string> {
    const [stream] = await this.hold([name], () => true, 'wait');
    invariant(stream !== undefined && stream !== null && stream !== 'busy', 'The stream is held.');
    return stream.id;
  }

  /**
   * What was known of the customer's streams is so no more. The database does the same when one is billed or watched and
   * and the backfill of a meter when it first counts it.
   */
  async outdate(customerId: string): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(OUTDATE, [customerId]);
  }

  /** The id of a stream, good for ever; null where there is none. */
  async idOf(name: StreamName): Promise<string | null> {
    return (await this.find([name])).get(streamKey(name)) ?? null;
  }

  private async find(names: readonly StreamName[]): Promise<Map<string, string>> {
    const rows = await this.database.prepared<StreamRow>(
      'usage-streams-find',
      FIND,
      columnsOf(names),
    );
    return new Map(rows.map((row) => [streamKey(row), row.id]));
  }
}

function columnsOf(names: readonly StreamName[]): [string[], string[]] {
  return [names.map(({ customerId }) => customerId), names.map(({ eventName }) => eventName)];
}

export function streamKey({ customerId, eventName }: StreamName): string {
  return `${customerId} ${eventName}`;
}
