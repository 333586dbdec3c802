import { Injectable } from '@nestjs/common';
import { archivedBefore } from '../archive/archived-sql';
import { Database, type Page, pageFrom, type PageRequest } from '../../../platform/database';
import { invalidCursor } from '../../../platform/errors';
import { BEGINNING } from '../../../core/time';
import { type Group, carryOverStart } from '../../../core/usage';
import type { Properties, StoredUsageEvent } from '../domain/usage-event';
import { usageEventArchived, usageEventNotFound } from '../usage.errors';
import { digestOf, GROUP_KEY, IS_COUNTED, METER_READS } from './counted-sql';
import type { CountedEvent, UsageEventFilter, UsageQuery } from '../usage-store';
import { UsageStreams } from './usage-streams';

interface EventRow {
  readonly streamId: string;
  readonly customerId: string;
  readonly eventName: string;
  readonly position: string;
  readonly timestamp: Date;
  readonly receivedAt: Date;
  readonly voidedAt: Date | null;
  readonly idempotencyKey: string;
  readonly properties: Properties;
}

interface CountedRow extends EventRow {
  readonly groupKey: string;
}

const COLUMNS = `
  event.stream_id AS "streamId", stream.customer_id AS "customerId", stream.event_name AS "eventName",
  event.position, event.occurred_at AS timestamp, event.received_at AS "receivedAt", event.voided_at AS "voidedAt",
  event.idempotency_key AS "idempotencyKey", event.properties`;

const COUNTED = `
  SELECT ${COLUMNS}, ${GROUP_KEY} AS "groupKey"
  FROM usage_event AS event CROSS JOIN usage_stream AS stream CROSS JOIN meter ${METER_READS}
  WHERE event.stream_id = $1 AND event.occurred_at >= $3 AND event.occurred_at < $4
    AND (event.occurred_at, event.position) > ($3, $5)
    AND event.occurred_at >= coalesce(${archivedBefore('$1')}, '-infinity')
    AND event.position <= $6 AND (event.voided_position IS NULL OR event.voided_position > $6)
    AND stream.id = $1 AND meter.id = $2 AND ${IS_COUNTED} AND ($7::text IS NULL OR ${GROUP_KEY} = $7)
  ORDER BY event.occurred_at, event.position`;

/** Sorts the events once. Pages would sort all events of one timestamp for each page, because no index has `position`. */
const OPEN_COUNTED = `DECLARE counted_events NO SCROLL CURSOR FOR ${COUNTED}`;
const FETCHED_EVENTS = 1_000;
const NEXT_COUNTED = `FETCH ${FETCHED_EVENTS} FROM counted_events`;
const CLOSE_COUNTED = 'CLOSE counted_events';

/**
 * Newest events of a customer. Merges one page of each of the customer's streams (one stream per event name). The page
 * of a stream is read by index.
 */
const LIST = `
  SELECT ${COLUMNS}
  FROM usage_stream AS stream CROSS JOIN LATERAL (
    SELECT * FROM usage_event
    WHERE stream_id = stream.id AND occurred_at >= $3 AND occurred_at <= $4
      AND (occurred_at, stream_id, position) < ($4, $5, $6)
      AND occurred_at >= coalesce(${archivedBefore('stream.id')}, '-infinity')
    ORDER BY occurred_at DESC, position DESC
    LIMIT $7
  ) AS event
  WHERE stream.customer_id = $1 AND ($2::text IS NULL OR stream.event_name = $2)
  ORDER BY event.occurred_at DESC, event.stream_id DESC, event.position DESC
  LIMIT $7`;

const FIND = `
  SELECT ${COLUMNS}
  FROM usage_event AS event JOIN usage_stream AS stream ON stream.id = event.stream_id
  WHERE event.key_digest = ${digestOf('$1::text')}`;

const FIND_ARCHIVED = `SELECT FROM usage_archived_key WHERE key_digest = ${digestOf('$1::text')}`;

interface EventCursor {
  readonly occurredAt: Date;
  readonly streamId: string;
  readonly position: string;
}

/** Latest timestamp that an event can have. */
const END = new Date('9999-12-31T23:59:59.999Z');
const LAST_POSITION = '9223372036854775807';

@Injectable()
export class StoredEvents {
  constructor(
    private readonly database: Database,
    private readonly streams: UsageStreams,
  ) {}

  async listCounted(
    query: UsageQuery,
    group: Group | null,
    { after, limit }: PageRequest,
  ): Promise<Page<CountedEvent>> {
    const last = after === null ? null : parseCursor(after);
    const parameters = await this.countedParameters(query, group, last);
    if (parameters === null) return { items: [], next: null };
    const rows = await this.database.query<CountedRow>(`${COUNTED} LIMIT $8`, [
      ...parameters,
      limit + 1,
    ]);
    const page = pageFrom(rows, limit, cursorAt);
    return { ...page, items: page.items.map(toCountedEvent) };
  }

  async *readCounted(query: UsageQuery): AsyncGenerator<readonly CountedEvent[], void, undefined> {
    this.database.requireTransaction();
    const parameters = await this.countedParameters(query, null, null);
    if (parameters === null) return;
    await this.database.query(OPEN_COUNTED, parameters);
    let rows: readonly CountedRow[];
    do {
      rows = await this.database.query<CountedRow>(NEXT_COUNTED);
      yield rows.map(toCountedEvent);
    } while (rows.length === FETCHED_EVENTS);
    await this.database.query(CLOSE_COUNTED);
  }

  /** Returns the parameters of {@link COUNTED}; null if the customer has no events of the meter. */
  private async countedParameters(
    { customerId, meter, period, heldSince, upToPosition }: UsageQuery,
    group: Group | null,
    last: EventCursor | null,
  ): Promise<readonly unknown[] | null> {
    const stream = await this.streams.idOf({ customerId, eventName: meter.eventName });
    if (stream === null) return null;
    const startAt = carryOverStart(meter, heldSince) ?? period.startAt;
    const isWithin = last !== null && last.occurredAt >= startAt;
    return [
      stream,
      meter.id,
      isWithin ? last.occurredAt : startAt,
      period.endAt,
      isWithin ? last.position : '0',
      upToPosition?.toString() ?? LAST_POSITION,
      group === null ? null : JSON.stringify(group),
    ];
  }

  async list(
    { customerId, eventName, from, to }: UsageEventFilter,
    { after, limit }: PageRequest,
  ): Promise<Page<StoredUsageEvent>> {
    const before = { occurredAt: to ?? END, streamId: '0', position: '0' };
    const last = after === null ? before : parseCursor(after);
    const { occurredAt, streamId, position } = last.occurredAt < before.occurredAt ? last : before;
    const rows = await this.database.query<EventRow>(LIST, [
      customerId,
      eventName,
      from ?? BEGINNING,
      occurredAt,
      streamId,
      position,
      limit + 1,
    ]);
    const page = pageFrom(rows, limit, cursorAt);
    return { ...page, items: page.items.map(toEvent) };
  }

  /** @throws {ProblemError} `usage_event_not_found`, `usage_event_archived` */
  async get(idempotencyKey: string): Promise<StoredUsageEvent> {
    // PostgreSQL refuses NUL in text, and no stored key contains it.
    if (idempotencyKey.includes('\0')) throw usageEventNotFound(idempotencyKey);
    const [row] = await this.database.query<EventRow>(FIND, [idempotencyKey]);
    if (row !== undefined) return toEvent(row);
    const isArchived = (await this.database.query(FIND_ARCHIVED, [idempotencyKey])).length > 0;
    throw (isArchived ? usageEventArchived : usageEventNotFound)(idempotencyKey);
  }
}

function cursorAt({ timestamp, streamId, position }: EventRow): string {
  return `${timestamp.getTime()}.${streamId}.${position}`;
}

/** @throws {ProblemError} `invalid_cursor` */
function parseCursor(cursor: string): EventCursor {
  const [, ms, streamId, position] = /^(-?\d{1,15})\.(\d{1,18})\.(\d{1,18})$/.exec(cursor) ?? [];
  const occurredAt = new Date(Number(ms));
  if (streamId === undefined || position === undefined) throw invalidCursor();
  if (occurredAt < BEGINNING || occurredAt > END) throw invalidCursor();
  return { occurredAt, streamId, position };
}

function toCountedEvent(row: CountedRow): CountedEvent {
  return { ...toEvent(row), group: JSON.parse(row.groupKey) as Group };
}

function toEvent(row: EventRow): StoredUsageEvent {
  const { customerId, eventName, timestamp, receivedAt, voidedAt, idempotencyKey, properties } =
    row;
  return {
    idempotencyKey,
    customerId,
    eventName,
    timestamp,
    properties,
    position: BigInt(row.position),
    receivedAt,
    voidedAt,
  };
}
