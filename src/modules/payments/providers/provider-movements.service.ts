import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import type {
  CurrentMovement,
  ListingProvider,
  MovementKind,
  MovementPage,
  MovementQuery,
  ProviderMovements,
} from '../domain/provider-movement';
import { ProviderGateway } from './provider-gateway';
import { StripeMovements } from './stripe/stripe-movements';

/** Reads charges and refunds from providers. Must not be called in a transaction. */
@Injectable()
export class ProviderMovementsService {
  private readonly providers: Readonly<Record<ListingProvider, ProviderMovements>>;

  constructor(
    private readonly database: Database,
    private readonly gateway: ProviderGateway,
    stripe: StripeMovements,
  ) {
    this.providers = { stripe };
  }

  isEnabled(provider: ListingProvider): boolean {
    return this.gateway.isEnabled(provider);
  }

  /** @throws {ProblemError} `payment_provider_not_enabled` */
  requireEnabled(provider: ListingProvider): void {
    this.gateway.requireEnabled(provider);
  }

  /** Returns null if the provider is not enabled or did not answer. */
  async list(provider: ListingProvider, query: MovementQuery): Promise<MovementPage | null> {
    this.database.refuseTransaction('A call to a payment provider');
    return this.isEnabled(provider) ? this.providers[provider].list(query) : null;
  }

  /** Returns null if the provider is not enabled or did not answer. */
  async read(
    provider: ListingProvider,
    kind: MovementKind,
    reference: string,
  ): Promise<CurrentMovement | 'absent' | null> {
    this.database.refuseTransaction('A call to a payment provider');
    return this.isEnabled(provider) ? this.providers[provider].read(kind, reference) : null;
  }
}
