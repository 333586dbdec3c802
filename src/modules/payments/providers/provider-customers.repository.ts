import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database';
import type { ProviderName } from '../domain/payment-provider';

const FIND = 'SELECT reference FROM provider_customer WHERE customer_id = $1 AND provider = $2';

const STORE = `
  INSERT INTO provider_customer (customer_id, provider, reference, created_at)
  VALUES ($1, $2, $3, $5)
  ON CONFLICT (customer_id, provider) DO UPDATE SET reference =
    CASE provider_customer.reference WHEN $4 THEN $3 ELSE provider_customer.reference END
  RETURNING reference`;

@Injectable()
export class ProviderCustomersRepository {
  constructor(private readonly database: Database) {}

  find(customerId: string, provider: ProviderName): Promise<string | null> {
    return this.database.queryValue<string>(FIND, [customerId, provider]);
  }

  /**
   * Stores the provider's id of a customer, unless an id other than `missing` is already stored. Concurrent requests
   * thus use the same customer at the provider. Returns the id that is stored afterwards.
   * @param missing old id of a customer that was deleted at the provider; null: none
   */
  async store(
    customerId: string,
    provider: ProviderName,
    { reference, missing }: { readonly reference: string; readonly missing: string | null },
    now: Date,
  ): Promise<string> {
    const parameters = [customerId, provider, reference, missing, now];
    return (await this.database.queryValue<string>(STORE, parameters)) ?? reference;
  }
}
