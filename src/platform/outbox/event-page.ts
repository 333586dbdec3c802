import type { Statement } from '../database';

/** Filters of a list of events. */
export interface EventLogFilter {
  /** A type, or `resource.*`; null for all. */
  readonly type: string | null;
  readonly objectId: string | null;
  /** Resources whose events are left out, such as `api_key`. */
  readonly hiddenResources: readonly string[];
  /** First instant, inclusive. */
  readonly from: Date | null;
  /** Last instant, exclusive. */
  readonly to: Date | null;
}

/** Last event of the previous page. */
export interface EventLogCursor {
  readonly id: string;
  /** Needed for lists by time. */
  readonly occurredAt: Date | null;
}

const COLUMNS = 'id, type, object_id, sequence, occurred_at, actor, data::text AS data';

/** Steps from one type to the next in the index by type, because there are few types and many events. */
const TYPES = `
  WITH RECURSIVE known AS (
    SELECT min(type) AS type FROM event
    UNION ALL
    SELECT (SELECT min(event.type) FROM event WHERE event.type > known.type)
    FROM known WHERE known.type IS NOT NULL)`;

/** Tests whether a list is in the order in which its events occurred, instead of that of their ids. */
export function isByTime({ from, to }: EventLogFilter): boolean {
  return from !== null || to !== null;
}

/**
 * Returns the statement that reads a page of matching events, newest first: by id, or by the time they occurred if the filter
 * names a time. Each filter reads its page from an index: the events of a resource are merged from the pages of its types.
 */
export function eventPage(
  filter: EventLogFilter,
  after: EventLogCursor | null,
  most: number,
): Statement {
  const parameters: unknown[] = [];
  const bind = (value: unknown): string => `$${parameters.push(value)}`;
  const conditions: string[] = [];
  const { type, objectId, hiddenResources, from, to } = filter;
  const order = isByTime(filter) ? 'occurred_at DESC, id DESC' : 'id DESC';
  if (objectId !== null) conditions.push(`object_id = ${bind(objectId)}`);
  if (hiddenResources.length > 0) {
    conditions.push(`split_part(type, '.', 1) <> ALL (${bind(hiddenResources)}::text[])`);
  }
  if (from !== null) conditions.push(`occurred_at >= ${bind(from)}`);
  if (to !== null) conditions.push(`occurred_at < ${bind(to)}`);
  if (after !== null) {
    conditions.push(
      isByTime(filter)
        ? `(occurred_at, id) < (${bind(after.occurredAt)}::timestamptz, ${bind(after.id)}::varchar)`
        : `id < ${bind(after.id)}`,
    );
  }
  const isResource = type?.endsWith('.*') === true;
  if (type !== null && !isResource) conditions.push(`type = ${bind(type)}`);
  if (isResource) conditions.push('type = known.type');
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const page = `SELECT ${COLUMNS} FROM event ${where} ORDER BY ${order} LIMIT ${bind(most)}`;
  if (!isResource) return { sql: page, parameters };
  const prefix = bind(type.slice(0, -1));
  const sql = `
    ${TYPES}
    SELECT matching.* FROM known CROSS JOIN LATERAL (${page}) AS matching
    WHERE starts_with(known.type, ${prefix})
    ORDER BY ${order} LIMIT ${bind(most)}`;
  return { sql, parameters };
}
