import { randomBytes } from 'node:crypto';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { groupBy } from '../../core/grouping';
import { invariant } from '../../core/invariant';
import { Clock } from '../../platform/clock';
import { newId } from '../../platform/ids';
import { SealedColumns, SealedTextError, SecretBox } from '../../platform/secrets';
import {
  expiryOfReplaced,
  MAX_REPLACED_SECRETS,
  type WebhookSecret,
} from './domain/webhook-secret';
import { WebhookSecretsRepository } from './webhook-secrets.repository';
import { tooManyWebhookSecrets } from './webhooks.errors';

/** Length of a new secret. Standard Webhooks 1.0 requires 24 to 64 bytes. */
const SECRET_BYTES = 32;
const PREFIX = 'whsec_';

export interface RotatedSecret {
  readonly secret: string;
  readonly previousSecretExpiresAt: Date;
}

/**
 * Creates, rotates and decrypts the signing secrets of endpoints, which are stored encrypted. Methods that change
 * secrets must be called in the transaction that locked the endpoint.
 */
@Injectable()
export class WebhookSecretsService implements OnModuleInit {
  private readonly logger = new Logger('webhook-secrets');

  constructor(
    private readonly secrets: WebhookSecretsRepository,
    private readonly box: SecretBox,
    private readonly sealedColumns: SealedColumns,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.sealedColumns.register({
      table: 'webhook_secret',
      key: 'id',
      column: 'sealed',
      ownerOf: (id) => id,
      deleteExpired: () => this.secrets.deleteExpired(this.clock.now()),
    });
  }

  /** Creates and returns the current secret of an endpoint that has none. */
  async create(endpointId: string, now: Date): Promise<string> {
    const secret = `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
    const id = newId('whs');
    const sealed = await this.box.sealToStore(secret, id);
    await this.secrets.insert({ id, endpointId, sealed, createdAt: now, expiresAt: null });
    return secret;
  }

  /**
   * Returns the current secret; null if the endpoint does not exist or was deleted.
   * @throws {SealedTextError} if it cannot be decrypted
   */
  async currentSecret(endpointId: string, now: Date): Promise<string | null> {
    const [current] = await this.secrets.findValid([endpointId], now);
    return current === undefined ? null : this.box.open(current.sealed, current.id);
  }

  /**
   * Returns, by endpoint id, the secrets with which a delivery is signed at `now`. The current secret comes first, then
   * the replaced secrets that have not expired, newest first. Leaves out endpoints that do not exist or were deleted.
   * If a secret cannot be decrypted, logs an error and leaves the secret out. If this is the current secret, leaves out
   * the whole endpoint.
   */
  async validSecretsByEndpoint(
    endpointIds: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const valid = await this.secrets.findValid(endpointIds, now);
    const decrypted = new Map<string, readonly string[]>();
    for (const [endpointId, secrets] of groupBy(valid, (secret) => secret.endpointId)) {
      const [current, ...replaced] = secrets.map((secret) => this.decrypt(secret));
      if (typeof current !== 'string') continue;
      decrypted.set(endpointId, [current, ...replaced.filter((text) => text !== null)]);
    }
    return decrypted;
  }

  /**
   * Creates a new current secret. The previous secret stays valid for 24 hours, because receivers may still use it.
   * Earlier replaced secrets keep their own expiry. Secrets that cannot be decrypted are kept too, because another
   * process may have their key.
   * @throws {ProblemError} `too_many_webhook_secrets`
   */
  async rotate(endpointId: string, now: Date): Promise<RotatedSecret> {
    const [current, ...replaced] = await this.secrets.findValid([endpointId], now);
    invariant(
      current?.expiresAt === null,
      `The webhook endpoint ${endpointId} has a current secret.`,
    );
    if (replaced.length >= MAX_REPLACED_SECRETS) throw tooManyWebhookSecrets(endpointId);
    const previousSecretExpiresAt = expiryOfReplaced(now);
    await this.secrets.deleteExpired(now, endpointId);
    await this.secrets.update({ ...current, expiresAt: previousSecretExpiresAt });
    return { secret: await this.create(endpointId, now), previousSecretExpiresAt };
  }

  async deleteAll(endpointId: string): Promise<void> {
    await this.secrets.deleteAll(endpointId);
  }

  /** Returns the decrypted secret. If it cannot be decrypted, logs an error and returns null. */
  private decrypt({ id, endpointId, sealed, expiresAt }: WebhookSecret): string | null {
    try {
      return this.box.open(sealed, id);
    } catch (error) {
      if (!(error instanceof SealedTextError)) throw error;
      this.logger.error(
        { err: error, endpoint_id: endpointId, secret_id: id },
        expiresAt === null
          ? 'cannot decrypt the webhook secrets; check ENCRYPTION_KEYS'
          : 'cannot decrypt a replaced webhook secret',
      );
      return null;
    }
  }
}
