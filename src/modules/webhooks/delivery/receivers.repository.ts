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

const FAILING_SINCE = 'SELECT since FROM webhook_failure WHERE endpoint_id = $1';

const FORGIVE = 'DELETE FROM webhook_failure WHERE endpoint_id = $1';

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

  /** Since when an endpoint has given nothing but failures; null when its last attempt succeeded. */
  async failingSince(id: string): Promise<Date | null> {
    const [row] = await this.database.query<{ since: Date }>(FAILING_SINCE, [id]);
    return row?.since ?? null;
  }

  /** Gives an endpoint another chance: what failed before no longer counts. */
  async forgive(id: string): Promise<void> {
    await this.database.query(FORGIVE, [id]);
  }
}
