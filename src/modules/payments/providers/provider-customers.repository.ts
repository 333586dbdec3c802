import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import type { ProviderName } from '../domain/payment-provider';

const FIND = 'SELECT reference FROM provider_customer WHERE customer_id = $1 AND provider = $2';

/** Keeps the reference that was stored first, so that concurrent requests use the same customer at the provider. */
const INSERT_IF_NONE = `
  INSERT INTO provider_customer (customer_id, provider, reference, created_at)
  VALUES ($1, $2, $3, $4)
  ON CONFLICT (customer_id, provider) DO UPDATE SET reference = provider_customer.reference
  RETURNING reference`;

@Injectable()
export class ProviderCustomersRepository {
  constructor(private readonly database: Database) {}

  find(customerId: string, provider: ProviderName): Promise<string | null> {
    return this.database.queryValue<string>(FIND, [customerId, provider]);
  }

  /** Stores the reference if the customer has none at the provider. Returns the stored reference, old or new. */
  async insertIfNone(
    customerId: string,
    provider: ProviderName,
    reference: string,
    now: Date,
  ): Promise<string> {
    const parameters = [customerId, provider, reference, now];
    return (await this.database.queryValue<string>(INSERT_IF_NONE, parameters)) ?? reference;
  }
}
