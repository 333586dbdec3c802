import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';

/** Columns of an endpoint that deliveries need. */
export interface Receiver {
  readonly id: string;
  readonly url: string;
  /** Subscribed event names or patterns. */
  readonly events: readonly string[];
  readonly ordered: boolean;
  /** Time of the first failure since the last success; null: no failure since then. */
  readonly failingSince: Date | null;
}

interface ReceiverRow {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly ordered: boolean;
  readonly since: Date | null;
}

const ACTIVE = `
  SELECT endpoint.id, endpoint.url, endpoint.events, endpoint.ordered, failure.since
  FROM webhook_endpoint AS endpoint LEFT JOIN webhook_failure AS failure ON failure.endpoint_id = endpoint.id
  WHERE endpoint.deleted_at IS NULL AND endpoint.is_active ORDER BY endpoint.id`;

const FAILING_SINCE = 'SELECT since FROM webhook_failure WHERE endpoint_id = $1';

const HAS_URL = 'SELECT FROM webhook_endpoint WHERE id = $1 AND url = $2';

const RESET_HEALTH = 'DELETE FROM webhook_failure WHERE endpoint_id = $1';

@Injectable()
export class ReceiversRepository {
  constructor(private readonly database: Database) {}

  async listActive(): Promise<readonly Receiver[]> {
    const rows = await this.database.query<ReceiverRow>(ACTIVE);
    return rows.map((row) => ({
      id: row.id,
      url: row.url,
      events: row.events,
      ordered: row.ordered,
      failingSince: row.since,
    }));
  }

  /** Returns the time of the first failure since the last success; null: no failure since then. */
  failingSince(id: string): Promise<Date | null> {
    return this.database.queryValue<Date>(FAILING_SINCE, [id]);
  }

  async hasUrl(id: string, url: string): Promise<boolean> {
    return (await this.database.query(HAS_URL, [id, url])).length > 0;
  }

  /** Deletes the time of the first failure, so that earlier failures no longer count. */
  async resetHealth(id: string): Promise<void> {
    await this.database.query(RESET_HEALTH, [id]);
  }
}
