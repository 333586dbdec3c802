import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';

/** An endpoint, as far as delivering to it goes. */
export interface Receiver {
  readonly id: string;
  readonly url: string;
  /** Names it subscribed to. */
  readonly events: readonly string[];
  readonly ordered: boolean;
  readonly createdAt: Date;
  /** Since when it has given nothing but failures; null when its last attempt succeeded. */
  readonly failingSince: Date | null;
}

interface ReceiverRow {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly ordered: boolean;
  readonly created_at: Date;
  readonly since: Date | null;
}

const ACTIVE = `
  SELECT endpoint.id, endpoint.url, endpoint.events, endpoint.ordered, endpoint.created_at, failure.since
  FROM webhook_endpoint AS endpoint LEFT JOIN webhook_failure AS failure ON failure.endpoint_id = endpoint.id
  WHERE endpoint.deleted_at IS NULL AND endpoint.is_active ORDER BY endpoint.id`;

const FAILED = `
  INSERT INTO webhook_failure (endpoint_id, since) SELECT id, $2 FROM unnest($1::varchar[]) AS id
  ON CONFLICT (endpoint_id) DO NOTHING`;

const SUCCEEDED = 'DELETE FROM webhook_failure WHERE endpoint_id = ANY ($1)';

/** Endpoints as the delivery sees them, and how they are doing. */
@Injectable()
export class ReceiversRepository {
  constructor(private readonly database: Database) {}

  /** Those that events are sent to. */
  async active(): Promise<readonly Receiver[]> {
    const rows = await this.database.query<ReceiverRow>(ACTIVE);
    return rows.map((row) => ({
      id: row.id,
      url: row.url,
      events: row.events,
      ordered: row.ordered,
      createdAt: row.created_at,
      failingSince: row.since,
    }));
  }

  /** Notes that these endpoints failed, unless they were failing before. */
  async noteFailed(ids: readonly string[], now: Date): Promise<void> {
    if (ids.length > 0) await this.database.query(FAILED, [ids, now]);
  }

  /** Notes that these endpoints work (again), or are given another chance. */
  async noteWorking(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.database.query(SUCCEEDED, [ids]);
  }
}
