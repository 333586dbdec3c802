import { Injectable } from '@nestjs/common';
import { LessThanOrEqual } from 'typeorm';
import { Database } from '../../platform/database';
import type { WebhookSecret } from './domain/webhook-secret';
import { WebhookSecretEntity } from './webhook-secret.entity';

const VALID = `
  WHERE endpoint_id = ANY ($1) AND (expires_at IS NULL OR expires_at > $2)
  ORDER BY expires_at DESC NULLS FIRST, id DESC`;

@Injectable()
export class WebhookSecretsRepository {
  constructor(private readonly database: Database) {}

  async insert(secret: WebhookSecret): Promise<void> {
    await this.database.insert(WebhookSecretEntity, secret);
  }

  /**
   * Returns the current secret of each endpoint and the replaced secrets that have not expired. The current secrets
   * come first, then the replaced secrets, newest first.
   */
  findValid(endpointIds: readonly string[], now: Date): Promise<readonly WebhookSecret[]> {
    return this.database.select(WebhookSecretEntity, VALID, [endpointIds, now]);
  }

  async update(secret: WebhookSecret): Promise<void> {
    const { expiresAt } = secret;
    await this.database.update(WebhookSecretEntity, secret.id, { expiresAt });
  }

  /** Deletes the expired secrets of an endpoint, or by default of all endpoints. */
  async deleteExpired(now: Date, endpointId?: string): Promise<void> {
    await this.database.repository(WebhookSecretEntity).delete({
      expiresAt: LessThanOrEqual(now),
      ...(endpointId !== undefined && { endpointId }),
    });
  }

  async deleteAll(endpointId: string): Promise<void> {
    await this.database.repository(WebhookSecretEntity).delete({ endpointId });
  }
}
