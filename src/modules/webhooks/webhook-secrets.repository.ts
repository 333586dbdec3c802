import { Injectable } from '@nestjs/common';
import { In, IsNull, LessThanOrEqual, MoreThan } from 'typeorm';
import { Database } from '../../platform/database';
import type { WebhookSecret } from './domain/webhook-secret';
import { WebhookSecretEntity } from './webhook-secret.entity';

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
    const endpointId = In(endpointIds);
    return this.secrets.find({
      where: [
        { endpointId, expiresAt: IsNull() },
        { endpointId, expiresAt: MoreThan(now) },
      ],
      order: { expiresAt: { direction: 'DESC', nulls: 'FIRST' }, id: 'DESC' },
    });
  }

  async update(secret: WebhookSecret): Promise<void> {
    const { expiresAt } = secret;
    await this.database.update(WebhookSecretEntity, secret.id, { expiresAt });
  }

  async deleteExpired(endpointId: string, now: Date): Promise<void> {
    await this.secrets.delete({ endpointId, expiresAt: LessThanOrEqual(now) });
  }

  async deleteAll(endpointId: string): Promise<void> {
    await this.secrets.delete({ endpointId });
  }

  private get secrets() {
    return this.database.repository(WebhookSecretEntity);
  }
}
