import { createHash } from 'node:crypto';
import type { Database } from '../../../platform/database';
import type { IncomingEvent } from './usage-store';

/** As many as are handed over as parameters; more go through a table. */
const MOST_IN_MEMORY = 1_000;
/** How much text goes to that table at once. */
const CHUNK_BYTES = 512 * 1_024;

const TABLE = `
  CREATE TEMP TABLE usage_staged (
    index integer, key_digest uuid, idempotency_key varchar, stream_no integer, occurred_at timestamptz(3), properties jsonb
  ) ON COMMIT DROP`;

/** A customer and an event name that events of a request share. */
export interface StreamName {
  readonly customerId: string;
  readonly eventName: string;
}

/** Where a statement finds the staged events. */
export interface StagedSource {
  /** What follows WITH `staged` AS, in SQL. */
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

interface Columns {
  readonly index: number[];
  readonly digest: string[];
  readonly key: string[];
  readonly stream: number[];
  readonly occurredAt: Date[];
  readonly properties: string[];
}

const noColumns = (): Columns => ({
  index: [],
  digest: [],
  key: [],
  stream: [],
  occurredAt: [],
  properties: [],
});

/**
 * The events of one request, before anything is decided about them: in memory as long as they are few, then in a table
 * that the end of the transaction drops. So many can come, at any pace, while no stream is held and no more than a chunk
 * is in memory.
 */
export class StagedEvents {
  private readonly numbers = new Map<string, number>();
  private readonly names: StreamName[] = [];
  private columns = noColumns();
  private text: string[] = [];
  private textLength = 0;
  private isInTable = false;
  private earliestMs = Number.POSITIVE_INFINITY;

  constructor(private readonly database: Database) {}

  /** The streams of the events, by the number that the staged events know them by. */
  get streams(): readonly StreamName[] {
    return this.names;
  }

  get isEmpty(): boolean {
    return this.names.length === 0;
  }

  /** When the first of them happened. */
  get earliestAt(): Date {
    return new Date(this.earliestMs);
  }

  /** Whether it is time for a table. */
  get isFull(): boolean {
    return !this.isInTable && this.columns.index.length > MOST_IN_MEMORY;
  }

  add(event: IncomingEvent): void {
    this.earliestMs = Math.min(this.earliestMs, event.timestamp.getTime());
    const digest = createHash('sha256').update(event.idempotencyKey).digest('hex').slice(0, 32);
    const row = [
      event.index,
      digest,
      event.idempotencyKey,
      this.numberOf(event),
      event.timestamp,
      JSON.stringify(event.properties),
    ] as const;
    if (this.isInTable) this.addText(row);
    else this.addColumns(row);
  }

  /** Lets the open transaction have a table for them. */
  async moveToTable(): Promise<void> {
    await this.database.query(TABLE);
    const { index, digest, key, stream, occurredAt, properties } = this.columns;
    this.columns = noColumns();
    this.isInTable = true;
    for (const [at, number] of index.entries()) {
      this.addText([
        number,
        digest[at] ?? '',
        key[at] ?? '',
        stream[at] ?? 0,
        occurredAt[at] ?? new Date(Number.NaN),
        properties[at] ?? '',
      ]);
    }
    await this.flush();
  }

  /** Brings what was added to the table, once it is worth the way or nothing more comes. */
  async flush(isLast = true): Promise<void> {
    if (!this.isInTable || this.text.length === 0) return;
    if (!isLast && this.textLength < CHUNK_BYTES) return;
    const rows = Buffer.from(this.text.join(''));
    this.text = [];
    this.textLength = 0;
    await this.database.copy('usage_staged', rows);
  }

  /** @param first number of the first parameter that is free */
  source(first: number): StagedSource {
    if (this.isInTable) return { sql: '(SELECT * FROM usage_staged)', parameters: [] };
    const { index, digest, key, stream, occurredAt, properties } = this.columns;
    const types = ['int[]', 'uuid[]', 'text[]', 'int[]', 'timestamptz[]', 'jsonb[]'];
    const places = types.map((type, place) => `$${first + place}::${type}`).join(', ');
    return {
      sql: `(SELECT * FROM unnest(${places})
        AS one(index, key_digest, idempotency_key, stream_no, occurred_at, properties))`,
      parameters: [index, digest, key, stream, occurredAt, properties],
    };
  }

  private numberOf({ customerId, eventName }: StreamName): number {
    const name = `${customerId} ${eventName}`;
    const known = this.numbers.get(name);
    if (known !== undefined) return known;
    const number = this.names.push({ customerId, eventName }) - 1;
    this.numbers.set(name, number);
    return number;
  }

  private addColumns([index, digest, key, stream, occurredAt, properties]: Row): void {
    this.columns.index.push(index);
    this.columns.digest.push(digest);
    this.columns.key.push(key);
    this.columns.stream.push(stream);
    this.columns.occurredAt.push(occurredAt);
    this.columns.properties.push(properties);
  }

  private addText([index, digest, key, stream, occurredAt, properties]: Row): void {
    const line = `${index}\t${digest}\t${escaped(key)}\t${stream}\t${occurredAt.toISOString()}\t${escaped(properties)}\n`;
    this.text.push(line);
    this.textLength += line.length;
  }
}

type Row = readonly [
  index: number,
  digest: string,
  key: string,
  stream: number,
  occurredAt: Date,
  properties: string,
];

const SPECIAL = /[\\\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
};

/** A value in the text format of COPY. */
function escaped(text: string): string {
  return text.replace(SPECIAL, (character) => ESCAPES[character] ?? character);
}
