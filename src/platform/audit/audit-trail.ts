import { Injectable } from '@nestjs/common';
import { currentCall } from '../access';
import { Clock } from '../clock';
import { Database } from '../database';
import { newId } from '../ids';
import { auditedFields } from './audited-fields';

/** An operation that changes something, and its caller. Stored as an entry of the audit log. */
export interface AuditedOperation {
  readonly id: string;
  readonly createdAt: Date;
  readonly actorType: string;
  readonly actorId: string;
  /** `operationId` of the request. This field, `requestId` and `address` are null for commands and background work. */
  readonly operation: string | null;
  readonly requestId: string | null;
  readonly address: string | null;
}

/** A change that no event reports. */
export interface ChangeWithoutEvent {
  /** Kind of change as `<resource>.<past tense>`, like an event type, such as `audit_log.dropped`. */
  readonly action: string;
  readonly objectId: string;
  /** Values that the operation set, as the API shows them. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Returns common table expressions that write to the audit log: one entry for an operation, and the changes that the
 * operation made. If an operation takes several commits, the first commit inserts the entry, and later commits add only
 * changes. Changes can be packed: a group of changes is stored as one array, in the row of its first change.
 * @param entryAt number of the SQL parameter with the first value of `entryParameters`, such as 3 for `$3`
 * @param changes SELECT of action, object_id, changes, pack (number of the group; null for a change stored alone) and
 *   place (position in the group)
 */
export function auditSql(entryAt: number, changes: string): string {
  const at = (offset: number): string => `$${entryAt + offset}`;
  return `
  entry AS (
    INSERT INTO audit_log (id, created_at, actor_type, actor_id, operation, request_id, address)
    VALUES (${at(0)}::varchar, ${at(1)}::timestamptz, ${at(2)}::varchar, ${at(3)}::varchar,
      ${at(4)}::varchar, ${at(5)}::varchar, ${at(6)}::varchar)
    ON CONFLICT DO NOTHING),
  made AS MATERIALIZED (
    SELECT nextval('audit_change_position') AS position, action, object_id, changes, pack, place
    FROM (${changes}) AS made),
  change AS (
    INSERT INTO audit_change
      (entry_id, position, created_at, action, object_id, changes, pack, pack_position, pack_place)
    SELECT ${at(0)}::varchar, position, ${at(1)}::timestamptz, action, object_id,
      CASE WHEN pack IS NULL THEN changes END,
      CASE WHEN place = 1 THEN array_agg(changes) FILTER (WHERE pack IS NOT NULL) OVER whole END,
      CASE WHEN pack IS NOT NULL THEN min(position) OVER whole END, place
    FROM made
    WINDOW whole AS (PARTITION BY pack ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))`;
}

const RECORD = `
  WITH ${auditSql(
    4,
    'SELECT $1::varchar AS action, $2::varchar AS object_id, $3::json AS changes, NULL::integer AS pack, NULL::smallint AS place',
  )}
  SELECT`;

/**
 * Writes changes that no event reports to the audit log. `Outbox` writes all other changes. An operation has one entry
 * in the audit log, even if the operation takes several commits.
 */
@Injectable()
export class AuditTrail {
  /** Audit log entries, by the request or command that made changes. The key of background work is its transaction. */
  private readonly entries = new WeakMap<object, AuditedOperation>();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Returns the parameters of {@link auditSql} for the current operation. Must be called in a transaction. */
  entryParameters(): readonly unknown[] {
    const { id, createdAt, actorType, actorId, operation, requestId, address } = this.entry();
    return [id, createdAt, actorType, actorId, operation, requestId, address];
  }

  /** Records a change in the caller's transaction, which must have inserted or locked the row of the object. */
  async record({ action, objectId, fields }: ChangeWithoutEvent): Promise<void> {
    this.database.requireTransaction();
    const changes = JSON.stringify(auditedFields({ object: fields, previous: {}, isNew: true }));
    await this.database.query(RECORD, [action, objectId, changes, ...this.entryParameters()]);
  }

  /** Returns the entry of the current request or command. Background work has one entry per transaction. */
  private entry(): AuditedOperation {
    const call = currentCall();
    const subject = call ?? this.database.transactionIdentity;
    const known = this.entries.get(subject);
    if (known !== undefined) return known;
    const request = call?.request ?? null;
    const made: AuditedOperation = {
      id: newId('aud'),
      createdAt: this.clock.now(),
      actorType: call?.principal.kind ?? 'worker',
      actorId: call?.principal.id ?? 'worker',
      operation: request?.operation ?? null,
      requestId: request?.id ?? null,
      address: request?.address ?? null,
    };
    this.entries.set(subject, made);
    return made;
  }
}
