import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { Database, type Page, pageById, type PageRequest } from '../../platform/database';
import type { WebhookEndpoint } from './domain/webhook-endpoint';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';

/** Held to the end of the transaction, by those who add endpoints: with it their number cannot change under them. */
const LOCK_NUMBER = `SELECT pg_advisory_xact_lock(hashtext('webhook_endpoint'), 0)`;

/** Deleted endpoints are found by nothing here. */
@Injectable()
export class WebhookEndpointsRepository {
  constructor(private readonly database: Database) {}

  async insert(endpoint: WebhookEndpoint): Promise<void> {
    await this.database.insert(WebhookEndpointEntity, endpoint);
  }

  /** How many there are; nobody else adds one until the transaction ends. */
  async countForInsert(): Promise<number> {
    this.database.requireTransaction();
    await this.database.query(LOCK_NUMBER);
    return this.endpoints.countBy({ deletedAt: IsNull() });
  }

  find(id: string): Promise<WebhookEndpoint | null> {
    return this.endpoints.findOneBy({ id, deletedAt: IsNull() });
  }

  /** The endpoint, locked until the transaction ends; deliveries to it can be made meanwhile. */
  lock(id: string): Promise<WebhookEndpoint | null> {
    return this.lockWith(id, 'for_no_key_update');
  }

  /** The endpoint, locked until the transaction ends; nobody makes a delivery to it meanwhile. */
  lockAlone(id: string): Promise<WebhookEndpoint | null> {
    return this.lockWith(id, 'pessimistic_write');
  }

  private lockWith(
    id: string,
    mode: 'for_no_key_update' | 'pessimistic_write',
  ): Promise<WebhookEndpoint | null> {
    this.database.requireTransaction();
    return this.endpoints.findOne({ where: { id, deletedAt: IsNull() }, lock: { mode } });
  }

  page(request: PageRequest): Promise<Page<WebhookEndpoint>> {
    return pageById(
      this.endpoints.createQueryBuilder('endpoint').where('endpoint.deletedAt IS NULL'),
      request,
    );
  }

  /** Writes what an update, a rotation or a deletion may change. */
  async update(endpoint: WebhookEndpoint): Promise<void> {
    const { url, events, description, isActive, ordered, disabledReason, metadata } = endpoint;
    const { version, deletedAt, updatedAt } = endpoint;
    await this.database.update(WebhookEndpointEntity, endpoint.id, {
      url,
      events,
      description,
      isActive,
      ordered,
      disabledReason,
      metadata,
      version,
      deletedAt,
      updatedAt,
    });
  }

  private get endpoints() {
    return this.database.repository(WebhookEndpointEntity);
  }
}
