import { Injectable } from '@nestjs/common';
import { AuditTrail } from '../../../platform/audit';
import { Database, ListQuery, type Page, type PageRequest } from '../../../platform/database';
import type { Replay } from './domain/replay';
import { WebhookReplayEntity } from './webhook-replay.entity';

/** Locks the running replay whose last step is longest ago. Skips replays that another process has locked. */
const NEXT_RUNNING = `
  WHERE status = 'running' ORDER BY updated_at, id LIMIT 1 FOR UPDATE SKIP LOCKED`;

const MOVE_BACK = `
  UPDATE webhook_replay SET updated_at = greatest(updated_at, $2) WHERE id = $1 AND status = 'running'`;

const RUNNING = `WHERE endpoint_id = $1 AND status = 'running'`;

@Injectable()
export class ReplaysRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditTrail,
  ) {}

  /** Inserts a replay. Also writes to the audit log, because replays have no events. */
  async insert(replay: Replay): Promise<void> {
    await this.database.insert(WebhookReplayEntity, replay);
    const { id, endpointId, fromAt, toAt, events } = replay;
    await this.audit.record({
      action: 'webhook_replay.created',
      objectId: id,
      fields: {
        endpoint_id: endpointId,
        from: fromAt.toISOString(),
        to: toAt.toISOString(),
        events,
      },
    });
  }

  find(endpointId: string, id: string): Promise<Replay | null> {
    return this.database.selectOne(WebhookReplayEntity, 'WHERE id = $1 AND endpoint_id = $2', [
      id,
      endpointId,
    ]);
  }

  findRunning(endpointId: string): Promise<Replay | null> {
    return this.database.selectOne(WebhookReplayEntity, RUNNING, [endpointId]);
  }

  lockNextRunning(): Promise<Replay | null> {
    return this.database.selectOne(WebhookReplayEntity, NEXT_RUNNING, []);
  }

  /** Puts a replay behind the other running replays, so that they continue first. */
  async moveBack(id: string, now: Date): Promise<void> {
    await this.database.query(MOVE_BACK, [id, now]);
  }

  page(endpointId: string, request: PageRequest): Promise<Page<Replay>> {
    const query = new ListQuery('webhook_replay').where('endpoint_id = $', endpointId);
    return query.page(this.database, WebhookReplayEntity, request);
  }

  async update(replay: Replay): Promise<void> {
    const { status, failureCode, readToAt, readToId, eventsRead, replayed, updatedAt } = replay;
    await this.database.update(WebhookReplayEntity, replay.id, {
      status,
      failureCode,
      readToAt,
      readToId,
      eventsRead,
      replayed,
      updatedAt,
    });
  }
}
