import { Injectable } from '@nestjs/common';
import { Database, type Page, pageFrom, type PageRequest } from '../../platform/database';
import { invalidCursor } from '../../platform/errors';
import { AuditUsageCountEntity } from './audit-usage-count.entity';
import type { UsageCount } from './domain/audit-entry';

const ADD = `
  INSERT INTO audit_usage_count (actor_id, operation, hour, actor_type, request_count)
  SELECT actor_id, operation, hour, actor_type, request_count
  FROM json_to_recordset($1::json) AS added
    (actor_id text, operation text, hour timestamptz, actor_type text, request_count bigint)
  ORDER BY actor_id, operation, hour
  ON CONFLICT (actor_id, operation, hour) DO UPDATE
  SET request_count = audit_usage_count.request_count + excluded.request_count`;

const PAGE = `
  WHERE $1::timestamptz IS NULL OR (hour, actor_id, operation) < ($1, $2, $3)
  ORDER BY hour DESC, actor_id DESC, operation DESC LIMIT $4`;

@Injectable()
export class AuditUsageRepository {
  constructor(private readonly database: Database) {}

  /** Adds to the stored counts in sorted order, so that all processes lock rows in the same order. */
  async add(counts: readonly UsageCount[]): Promise<void> {
    const rows = counts.map(({ actorType, actorId, operation, hour, requestCount }) => ({
      actor_type: actorType,
      actor_id: actorId,
      operation,
      hour,
      request_count: requestCount.toString(),
    }));
    await this.database.query(ADD, [JSON.stringify(rows)]);
  }

  /**
   * Returns a page of counts, newest hour first. The cursor contains hour, caller and operation of the last count.
   * @throws {ProblemError} `invalid_cursor`
   */
  async page({ limit, after }: PageRequest): Promise<Page<UsageCount>> {
    const position = after === null ? [null, null, null] : positionOf(after);
    const rows = await this.database.select(AuditUsageCountEntity, PAGE, [...position, limit + 1]);
    return pageFrom(
      rows,
      limit,
      ({ hour, actorId, operation }) => `${hour.toISOString()} ${actorId} ${operation}`,
    );
  }
}

/** Form of a cursor. Refuses the year 0, which PostgreSQL does not have. */
const CURSOR = /^((?!0000)\d{4}-\d\d-\d\dT\d\d:00:00\.000Z) ([\w-]{1,40}) (.{1,80})$/;

function positionOf(cursor: string): readonly string[] {
  const [, ...parts] = CURSOR.exec(cursor) ?? [];
  const hour = new Date(parts[0] ?? '');
  // `Date` reads 30 February as 2 March.
  if (Number.isNaN(hour.getTime()) || hour.toISOString() !== parts[0]) throw invalidCursor();
  return parts;
}
