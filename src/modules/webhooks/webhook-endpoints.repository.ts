import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import {
  Database,
  ListQuery,
  type Page,
  type PageRequest,
  ROW_LOCKS,
} from '../../platform/database';
import type { WebhookEndpoint } from './domain/webhook-endpoint';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';

const LOCK_NUMBER = `SELECT pg_advisory_xact_lock(hashtext('webhook_endpoint'), 0)`;

const EXISTING = 'WHERE id = $1 AND deleted_at IS NULL';
const LOCK_ACTIVE = 'WHERE is_active AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE';

/** Reads and writes endpoints. No method returns deleted endpoints. */
@Injectable()
export class WebhookEndpointsRepository {
  constructor(private readonly database: Database) {}

  async insert(endpoint: WebhookEndpoint): Promise<void> {
    await this.database.insert(WebhookEndpointEntity, { ...endpoint, discardTo: null });
  }

  /** Counts the endpoints, and blocks other insertions until the transaction ends, so that the number stays correct. */
  async countForInsert(): Promise<number> {
    this.database.requireTransaction();
    await this.database.query(LOCK_NUMBER);
    return this.database.repository(WebhookEndpointEntity).countBy({ deletedAt: IsNull() });
  }

  find(id: string): Promise<WebhookEndpoint | null> {
    return this.database.selectOne(WebhookEndpointEntity, EXISTING, [id]);
  }

  /** Locks an endpoint until the transaction ends. Meanwhile, deliveries to the endpoint can be created. */
  lock(id: string): Promise<WebhookEndpoint | null> {
    const locked = `${EXISTING} ${ROW_LOCKS.change}`;
    return this.database.selectOne(WebhookEndpointEntity, locked, [id]);
  }

  /** Locks an endpoint until the transaction ends. Meanwhile, no delivery to the endpoint can be created. */
  lockExclusive(id: string): Promise<WebhookEndpoint | null> {
    const locked = `${EXISTING} ${ROW_LOCKS.deletion}`;
    return this.database.selectOne(WebhookEndpointEntity, locked, [id]);
  }

  /** Locks all active endpoints until the transaction ends. Meanwhile, deliveries to the endpoints can be created. */
  lockActive(): Promise<readonly WebhookEndpoint[]> {
    return this.database.select(WebhookEndpointEntity, LOCK_ACTIVE, []);
  }

  page(request: PageRequest): Promise<Page<WebhookEndpoint>> {
    const query = new ListQuery('webhook_endpoint').whereIf(true, 'deleted_at IS NULL');
    return query.page(this.database, WebhookEndpointEntity, request);
  }

  async update(endpoint: WebhookEndpoint): Promise<void> {
    await this.database.updateRevised(WebhookEndpointEntity, endpoint, [
      'url',
      'events',
      'description',
      'isActive',
      'ordered',
      'disabledReason',
      'metadata',
      'deletedAt',
    ]);
  }
}
