import { isHiddenType } from '../../core/access';
import { idTime } from '../database';
import { type EventsQuery, STORED_COLUMNS } from './event-data';

export interface EventLogFilter {
  /** An event type, or `resource.*` for all types of a resource; null for all types. */
  readonly type: string | null;
  readonly objectId: string | null;
  /** Customers whose events are listed; null for all events. */
  readonly customerIds: readonly string[] | null;
  /** Principal that caused the events; null for the events of all principals. */
  readonly actor: string | null;
  /** Resources whose events are left out, such as `api_key`. */
  readonly hiddenResources: readonly string[];
  /** Earliest time of an event, inclusive; null: no limit. */
  readonly from: Date | null;
  /** Latest time of an event, exclusive; null: no limit. */
  readonly to: Date | null;
}

export interface EventPageQuery extends EventsQuery {
  readonly parameters: readonly unknown[];
}

/** Last event of the previous page. */
export interface EventLogCursor {
  readonly id: string;
  /** Time at which the event occurred. Null in a list that is not ordered by time. */
  readonly occurredAt: Date | null;
  /** Sequence number of the event. Null in a list that is not ordered by sequence number. */
  readonly sequence: number | null;
}

/**
 * SQL that finds all event types. Looks them up one by one in the index, which is fast, because there are few types.
 */
const TYPES = `
  WITH RECURSIVE known AS (
    SELECT min(type) AS type FROM event
    UNION ALL
    SELECT (SELECT min(event.type) FROM event WHERE event.type > known.type)
    FROM known WHERE known.type IS NOT NULL)`;

/**
 * SQL expression for the id of the customer that an event belongs to: the id of its object if that is a customer,
 * otherwise the `customer_id` of its object. The index `event_customer_time_index` has the same expression.
 */
export const CUSTOMER_OF_EVENT = `(
  CASE WHEN starts_with(object_id, 'cus_') THEN object_id::text ELSE data #>> '{object,customer_id}' END)`;

/** Returns true if a list is ordered by the time at which its events occurred. */
export function isByTime({ from, to }: EventLogFilter): boolean {
  return from !== null || to !== null;
}

/**
 * Returns true if a list is ordered by the sequence numbers of its events. The ids of the events of one object may be
 * in another order, because the clocks of processes differ.
 */
export function isBySequence(filter: EventLogFilter): boolean {
  return filter.objectId !== null && !isByTime(filter);
}

/**
 * Returns the SQL expressions that come last in the ORDER BY of a list. A list with a filter by type, customer, actor
 * or time reads an index that ends with {@link idTime}, the start of the id, which encodes its time. Such a list is
 * ordered by {@link idTime} and then by id. Any other list is ordered by id alone.
 * @param id SQL expression of the id
 */
function endOf(filter: EventLogFilter, id: string): readonly string[] {
  const { type, customerIds, actor } = filter;
  const isFiltered = type !== null || customerIds !== null || actor !== null;
  return isFiltered || isByTime(filter) ? [idTime(id), id] : [id];
}

function keysOf(filter: EventLogFilter, id: string): readonly string[] {
  if (isBySequence(filter)) return ['sequence'];
  return [...(isByTime(filter) ? ['occurred_at'] : []), ...endOf(filter, id)];
}

const descending = (keys: readonly string[]): string => keys.map((key) => `${key} DESC`).join(', ');

/**
 * Returns SQL for a page of matching events, newest first, in the order that `EventLog.page` describes. Reads every
 * page from an index.
 * - A page of all types of a resource (`resource.*`) is merged from one page per event type.
 * - A page of several customers is merged from one page for each of the `limit` customers with the newest events.
 */
export function eventPage(
  filter: EventLogFilter,
  after: EventLogCursor | null,
  limit: number,
): EventPageQuery {
  const parameters: unknown[] = [];
  const bind = (value: unknown): string => `$${parameters.push(value)}`;
  const conditions: string[] = [];
  const { type, objectId, customerIds, actor, hiddenResources, from, to } = filter;
  const order = descending(keysOf(filter, 'id'));
  if (objectId !== null) conditions.push(`object_id = ${bind(objectId)}`);
  if (actor !== null) conditions.push(`actor = ${bind(actor)}`);
  if (type !== null) {
    if (isHiddenType(type, hiddenResources)) conditions.push('false');
  } else if (hiddenResources.length > 0) {
    conditions.push(`split_part(type, '.', 1) <> ALL (${bind(hiddenResources)}::text[])`);
  }
  if (from !== null) conditions.push(`occurred_at >= ${bind(from)}`);
  if (to !== null) conditions.push(`occurred_at < ${bind(to)}`);
  if (after !== null) {
    const time = isByTime(filter) ? [`${bind(after.occurredAt)}::timestamptz`] : [];
    const place = isBySequence(filter)
      ? [`${bind(after.sequence)}::bigint`]
      : [...time, ...endOf(filter, `${bind(after.id)}::varchar`)];
    conditions.push(`(${keysOf(filter, 'id').join(', ')}) < (${place.join(', ')})`);
  }
  const limitParameter = bind(limit);
  const read = (events: string): EventPageQuery => ({
    events,
    order: `ORDER BY ${descending(keysOf(filter, 'stored.id'))}`,
    parameters,
  });
  const page = (columns: string, own: string | null, rows: string): string => {
    // OFFSET 0 keeps the planner from scanning the events of all customers by time to find the events of one customer.
    const isApart = own !== null && isByTime(filter) && customerIds !== null;
    const table = isApart ? `(SELECT * FROM event WHERE ${own} OFFSET 0) AS event` : 'event';
    const all = own === null || isApart ? conditions : [...conditions, own];
    const where = all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`;
    return `SELECT ${columns} FROM ${table} ${where} ORDER BY ${order} LIMIT ${rows}`;
  };
  const prefix = type?.endsWith('.*') === true ? bind(type.slice(0, -1)) : null;
  if (type !== null && prefix === null) conditions.push(`type = ${bind(type)}`);
  if (customerIds !== null) {
    if (prefix !== null) conditions.push(`starts_with(type, ${prefix})`);
    const asked = `unnest(${bind(customerIds)}::text[]) AS asked (customer_id)`;
    const newest = page(
      'id, occurred_at, sequence',
      `${CUSTOMER_OF_EVENT} = asked.customer_id`,
      '1',
    );
    const matching = page(
      STORED_COLUMNS,
      `${CUSTOMER_OF_EVENT} = chosen.customer_id`,
      limitParameter,
    );
    const sql = `
      WITH chosen AS MATERIALIZED (
        SELECT customer_id FROM ${asked} CROSS JOIN LATERAL (${newest}) AS newest
        ORDER BY ${order} LIMIT ${limitParameter})
      SELECT matching.* FROM chosen CROSS JOIN LATERAL (${matching}) AS matching
      ORDER BY ${order} LIMIT ${limitParameter}`;
    return read(sql);
  }
  if (prefix === null) return read(page(STORED_COLUMNS, null, limitParameter));
  const sql = `
    ${TYPES}
    SELECT matching.* FROM known CROSS JOIN LATERAL (${page(STORED_COLUMNS, 'type = known.type', limitParameter)}) AS matching
    WHERE starts_with(known.type, ${prefix})
    ORDER BY ${order} LIMIT ${limitParameter}`;
  return read(sql);
}
