import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { newId } from '../../platform/ids';
import { SecretBox } from '../../platform/secrets';
import {
  expiryOfReplaced,
  MOST_REPLACED_SECRETS,
  type WebhookSecret,
} from './domain/webhook-secret';
import { WebhookSecretsRepository } from './webhook-secrets.repository';
import { tooManyWebhookSecrets } from './webhooks.errors';

/** Standard Webhooks 1.0 asks for 24 to 64 bytes. */
const SECRET_BYTES = 32;
const PREFIX = 'whsec_';

export interface RotatedSecret {
  readonly secret: string;
  readonly previousExpiresAt: Date;
}

/** The secrets of endpoints, sealed at rest. What changes them runs in the transaction that locked the endpoint. */
@Injectable()
export class WebhookSecretsService {
  constructor(
    private readonly secrets: WebhookSecretsRepository,
    private readonly box: SecretBox,
  ) {}

  /** Gives an endpoint its first secret. */
  async issue(endpointId: string, now: Date): Promise<void> {
    await this.insertNew(endpointId, now);
  }

  /**
   * What a delivery made now is signed with: the current secret first, then those it replaced that are still good, the
   * newest first. Empty for an endpoint that does not exist or was deleted.
   */
  async goodSecrets(endpointId: string, now: Date): Promise<readonly string[]> {
    const good = await this.secrets.findGood(endpointId, now);
    return good.map(({ id, sealed }) => this.box.open(sealed, id));
  }

  /**
   * Makes a new current secret. The one it replaces goes on signing for 24 hours, and so do all that were replaced within
   * that time: a receiver may still have any of them.
   * @throws {ProblemError} `too_many_webhook_secrets`
   */
  async rotate(endpointId: string, now: Date): Promise<RotatedSecret> {
    const [current, ...replaced] = await this.secrets.findGood(endpointId, now);
    invariant(current?.expiresAt === null, `The endpoint ${endpointId} has no current secret.`);
    if (replaced.length >= MOST_REPLACED_SECRETS) throw tooManyWebhookSecrets(endpointId);
    const previousExpiresAt = expiryOfReplaced(now);
    await this.secrets.deleteExpired(endpointId, now);
    await this.secrets.update({ ...current, expiresAt: previousExpiresAt });
    return { secret: await this.insertNew(endpointId, now), previousExpiresAt };
  }

  /** Forgets all secrets of an endpoint that is deleted. */
  async forget(endpointId: string): Promise<void> {
    await this.secrets.deleteAll(endpointId);
  }

  private async insertNew(endpointId: string, now: Date): Promise<string> {
    const secret = `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
    const id = newId('whs');
    const row: WebhookSecret = {
      id,
      endpointId,
      sealed: this.box.seal(secret, id),
      createdAt: now,
      expiresAt: null,
    };
    await this.secrets.insert(row);
    return secret;
  }
}
