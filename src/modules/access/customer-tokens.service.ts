import { Injectable, type OnModuleInit } from '@nestjs/common';
import { raise } from '../../platform/errors';
import { hashOf, newSecret, type Principal, requireHeldScopes } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { Configuration } from '../../platform/config';
import { Database } from '../../platform/database';
import { newId } from '../../platform/ids';
import { Jobs } from '../../platform/jobs';
import { Outbox } from '../../platform/outbox';
import { CustomersService } from '../customers';
import { customerTokenNotFound } from './access.errors';
import { customerTokenCreated, customerTokenRevoked } from './access.events';
import { Credentials } from './credentials';
import { CustomerTokensRepository } from './customer-tokens.repository';
import type { CustomerToken, CustomerTokenTerms } from './domain/customer-token';

const BATCH_SIZE = 1_000;
const CLEAN_UP_EVERY_MS = 60_000;

/** A token with its secret. The secret is not stored and cannot be read again. */
export interface IssuedToken {
  readonly token: CustomerToken;
  readonly secret: string;
}

@Injectable()
export class CustomerTokensService implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly tokens: CustomerTokensRepository,
    private readonly customers: CustomersService,
    private readonly credentials: Credentials,
    private readonly outbox: Outbox,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'expired-customer-tokens',
      idleMs: CLEAN_UP_EVERY_MS,
      runDue: async () =>
        (await this.tokens.removeExpired(this.clock.now(), BATCH_SIZE)) === BATCH_SIZE,
    });
  }

  /** @throws {ProblemError} `customer_not_found`, `scope_not_held` */
  issue(
    customerId: string,
    { scopes, lifetimeMs }: CustomerTokenTerms,
    caller: Principal,
  ): Promise<IssuedToken> {
    requireHeldScopes(scopes, caller);
    const now = this.clock.now();
    const secret = newSecret(`ct_${this.configuration.environmentName}_`);
    const token: CustomerToken = {
      id: newId('ctok'),
      customerId,
      scopes,
      expiresAt: new Date(now.getTime() + lifetimeMs),
      createdBy: caller.id,
      issuerUsedPassword: caller.usedPassword,
      createdAt: now,
    };
    return this.database.transaction(async () => {
      await this.customers.lockForReference(customerId);
      await this.tokens.insert(token, hashOf(secret));
      await this.outbox.record(customerTokenCreated, { after: token, occurredAt: now });
      return { token, secret };
    });
  }

  /** @throws {ProblemError} `customer_token_not_found` */
  revoke(id: string, customerId: string): Promise<void> {
    return this.database.transaction(async () => {
      const token = (await this.tokens.delete(id, customerId)) ?? raise(customerTokenNotFound(id));
      await this.outbox.record(customerTokenRevoked, {
        before: token,
        after: token,
        occurredAt: this.clock.now(),
      });
      this.database.afterCommit(() => this.credentials.forgetAll());
    });
  }
}
