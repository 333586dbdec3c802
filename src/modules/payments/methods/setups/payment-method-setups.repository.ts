import { Injectable } from '@nestjs/common';
import { Database, ListQuery, type Page, type PageRequest } from '../../../../platform/database';
import type { PaymentMethodSetup } from './domain/payment-method-setup';
import { PaymentMethodSetupEntity } from './payment-method-setup.entity';

@Injectable()
export class PaymentMethodSetupsRepository {
  readonly table = 'payment_method_setup';

  constructor(private readonly database: Database) {}

  async insert(setup: PaymentMethodSetup): Promise<void> {
    await this.database.insert(PaymentMethodSetupEntity, setup);
  }

  find(id: string): Promise<PaymentMethodSetup | null> {
    return this.database.selectOne(PaymentMethodSetupEntity, 'WHERE id = $1', [id]);
  }

  /** Locks a setup until the transaction ends. A setup is locked after its customer. */
  lock(id: string): Promise<PaymentMethodSetup | null> {
    return this.database.selectOne(PaymentMethodSetupEntity, 'WHERE id = $1 FOR UPDATE', [id]);
  }

  page(customerId: string, request: PageRequest): Promise<Page<PaymentMethodSetup>> {
    const query = new ListQuery('payment_method_setup').where('customer_id = $', customerId);
    return query.page(this.database, PaymentMethodSetupEntity, request);
  }

  /** Writes the fields that polling the provider may change. */
  async update(setup: PaymentMethodSetup): Promise<void> {
    await this.database.updateRevised(PaymentMethodSetupEntity, setup, [
      'status',
      'paymentMethodId',
      'failureCode',
      'expiresAt',
      'dueAt',
      'leasedBy',
      'attempts',
    ]);
  }
}
