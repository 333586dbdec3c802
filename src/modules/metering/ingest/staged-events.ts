import type { HeldConnection } from '../../../platform/database';
import { type AppendStatements, ON_PARAMETERS, ON_TABLE } from './append-sql';
import { keyDigest } from './key-digest';
import type { StreamName } from '../store/usage-streams';
import type { IncomingEvent } from '../usage-store';

/** Largest number of events that are passed as parameters. More events go through a temporary table. */
export const MAX_EVENTS_IN_MEMORY = 4_000;
/** Minimum size of the rows that are copied to the temporary table at once. The last rows may be smaller. */
const CHUNK_BYTES = 512 * 1_024;

const TABLE = `
  CREATE TEMP TABLE usage_staged (
    index integer, key_digest uuid, idempotency_key varchar, stream_no integer, nth integer, occurred_at timestamptz(3), properties jsonb
  )`;

/** State of a locked stream (one customer, one event name), or the reason why its events are refused. */
export interface StagedStream {
  readonly id: string | null;
  readonly lastPosition: string | null;
  readonly refusal: string | null;
  /** Latest timestamp that events may have; null if all events of the stream are refused. */
  readonly lastInstant: Date | null;
  /** Events before this instant are refused; null if there is no such limit. */
  readonly closedBefore: Date | null;
}

interface Row {
  readonly index: number;
  readonly digest: string;
  readonly key: string;
  /** Number of the stream of the event. */
  readonly stream: number;
  /** Place of the event among the staged events of its stream, from 1. */
  readonly nth: number;
  readonly occurredAt: Date;
  readonly properties: string;
}

/**
 * Events of a request before they are stored. Keeps up to {@link MAX_EVENTS_IN_MEMORY} in memory, and more in a
 * temporary table of one connection. A request of any length therefore needs a bounded amount of memory. While the
 * request is received, no stream is locked and no transaction is open.
 */
export class StagedEvents {
  private readonly numbers = new Map<string, number>();
  private readonly names: StreamName[] = [];
  private readonly counts: number[] = [];
  /** Events in memory. */
  private rows: Row[] = [];
  private text: string[] = [];
  private textLength = 0;
  private copying: Promise<void> = Promise.resolve();
  /** Connection that has the table; null while the events are in memory. */
  private connection: HeldConnection | null = null;
  private count = 0;
  private earliestMs = Number.POSITIVE_INFINITY;
  private latestMs = Number.NEGATIVE_INFINITY;

  /** Streams of the events (a stream: one customer, one event name). The index of a stream is its number. */
  get streams(): readonly StreamName[] {
    return this.names;
  }

  get length(): number {
    return this.count;
  }

  get earliestAt(): Date {
    return new Date(this.earliestMs);
  }

  get latestAt(): Date {
    return new Date(this.latestMs);
  }

  get isInTable(): boolean {
    return this.connection !== null;
  }

  /** True if memory is full, so that the events must move to a table. */
  get isFull(): boolean {
    return !this.isInTable && this.rows.length > MAX_EVENTS_IN_MEMORY;
  }

  add(event: IncomingEvent): void {
    const occurredMs = event.timestamp.getTime();
    this.count += 1;
    this.earliestMs = Math.min(this.earliestMs, occurredMs);
    this.latestMs = Math.max(this.latestMs, occurredMs);
    const stream = this.numberOf(event);
    const nth = (this.counts[stream] ?? 0) + 1;
    this.counts[stream] = nth;
    const row = {
      index: event.index,
      digest: keyDigest(event.idempotencyKey),
      key: event.idempotencyKey,
      stream,
      nth,
      occurredAt: event.timestamp,
      properties: JSON.stringify(event.properties),
    };
    if (this.isInTable) this.addText(row);
    else this.rows.push(row);
  }

  /** Creates the table and moves the events there. The connection must be the one that later stores the events. */
  async moveToTable(connection: HeldConnection): Promise<void> {
    await connection.run(TABLE);
    this.connection = connection;
    for (const row of this.rows) this.addText(row);
    this.rows = [];
    await this.flush();
  }

  /**
   * Copies the collected events to the table if they fill a chunk, or if `isLast`. Waits for the end of the copy only
   * if `isLast`. Otherwise, the caller can read further events during the copy.
   */
  async flush(isLast = true): Promise<void> {
    if (this.connection === null) return;
    if (this.text.length > 0 && (isLast || this.textLength >= CHUNK_BYTES)) {
      const rows = Buffer.from(this.text.join(''));
      this.text = [];
      this.textLength = 0;
      await this.copying;
      this.copying = this.connection.copy('usage_staged', rows);
      // The next call awaits the copy and throws its error. If there is no next call, the request has failed already.
      this.copying.catch(() => undefined);
    }
    if (isLast) await this.copying;
  }

  get statements(): AppendStatements {
    return this.isInTable ? ON_TABLE : ON_PARAMETERS;
  }

  /**
   * Returns the parameters of {@link statements} from $3 on.
   * @param streams state of each of {@link streams}, in the same order
   * @param requestOf for each event in memory, the index of its request; empty if there is only one request. If a
   *   stream of a request is `busy` (locked by another transaction), no event of this request is stored
   */
  parameters(
    streams: readonly StagedStream[],
    requestOf: readonly number[] = [],
  ): readonly unknown[] {
    if (this.isInTable) {
      return [
        streams.map(({ id }) => id),
        streams.map((_, number) => number),
        streams.map(({ lastPosition }) => lastPosition),
        streams.map(({ refusal }) => refusal),
        streams.map(({ lastInstant }) => lastInstant),
        streams.map(({ closedBefore }) => closedBefore),
      ];
    }
    const { rows } = this;
    const streamOf = rows.map(({ stream }) => streams[stream] ?? NO_STREAM);
    const busy = new Set<number | undefined>();
    for (const [at, { refusal }] of streamOf.entries()) {
      if (refusal === 'busy') busy.add(requestOf[at]);
    }
    const last = streams.map(({ lastPosition }) => BigInt(lastPosition ?? 0));
    return [
      streamOf.map(({ id }) => id),
      rows.map(({ index }) => index),
      rows.map(({ digest }) => digest),
      rows.map(({ key }) => key),
      rows.map(({ stream, nth }) => (last[stream] ?? 0n) + BigInt(nth)),
      rows.map(({ occurredAt }) => occurredAt),
      streamOf.map((one, at) =>
        busy.has(requestOf[at]) ? 'busy' : refusalOf(one, rows[at]?.occurredAt),
      ),
      `[${rows.map(({ properties }) => properties).join(',')}]`,
    ];
  }

  private numberOf({ customerId, eventName }: StreamName): number {
    const name = `${customerId} ${eventName}`;
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    const number = this.names.push({ customerId, eventName }) - 1;
    this.numbers.set(name, number);
    return number;
  }

  private addText({ index, digest, key, stream, nth, occurredAt, properties }: Row): void {
    const line = `${index}\t${digest}\t${escaped(key)}\t${stream}\t${nth}\t${occurredAt.toISOString()}\t${escaped(properties)}\n`;
    this.text.push(line);
    this.textLength += line.length;
  }
}

export const NO_STREAM: StagedStream = {
  id: null,
  lastPosition: null,
  refusal: null,
  lastInstant: null,
  closedBefore: null,
};

function refusalOf(stream: StagedStream, occurredAt: Date | undefined): string | null {
  if (stream.refusal !== null) return stream.refusal;
  const { lastInstant, closedBefore } = stream;
  if (occurredAt === undefined) return null;
  if (lastInstant !== null && occurredAt > lastInstant) return 'usage_in_future';
  return closedBefore !== null && occurredAt < closedBefore ? 'usage_archived' : null;
}

const SPECIAL = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
};

/** Escapes a value for the text format of COPY. */
function escaped(text: string): string {
  return text.replace(SPECIAL, (character) => ESCAPES[character] ?? character);
}
