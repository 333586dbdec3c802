import { Injectable } from '@nestjs/common';
import { Database, type Page, pageById, type PageRequest } from '../../../../platform/database';
import type { Lease } from '../../domain/poll-lease';
import type { PaymentMethodSetup } from './domain/payment-method-setup';
import { PaymentMethodSetupEntity } from './payment-method-setup.entity';

const CLAIM_DUE = `
  UPDATE payment_method_setup SET due_at = $2, leased_by = $4 WHERE id IN (
    SELECT id FROM payment_method_setup WHERE due_at <= $1
    ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
  RETURNING id`;

const REMOVE = 'DELETE FROM payment_method_setup WHERE customer_id = ANY ($1) RETURNING id';

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

  /** Locks a setup until the transaction ends. Lock it after its customer. */
  lock(id: string): Promise<PaymentMethodSetup | null> {
    return this.database.selectOne(PaymentMethodSetupEntity, 'WHERE id = $1 FOR UPDATE', [id]);
  }

  page(customerId: string, request: PageRequest): Promise<Page<PaymentMethodSetup>> {
    const query = this.database
      .repository(PaymentMethodSetupEntity)
      .createQueryBuilder('setup')
      .where('setup.customerId = :customerId', { customerId });
    return pageById(query, request);
  }

  /** Writes the fields that polling the provider may change. */
  async update({ id, ...setup }: PaymentMethodSetup): Promise<void> {
    const { version, status, paymentMethodId, failureCode, updatedAt } = setup;
    const { dueAt, leasedBy, attempts } = setup;
    const shown = { version, status, paymentMethodId, failureCode, updatedAt };
    await this.database.update(PaymentMethodSetupEntity, id, {
      ...shown,
      dueAt,
      leasedBy,
      attempts,
    });
  }

  /** Claims due setups, to ask their provider. Returns their ids, leased to the caller. */
  claimDue(now: Date, lease: Lease, most: number): Promise<readonly string[]> {
    const parameters = [now, lease.endsAt, most, lease.owner];
    return this.database.queryValues<string>(CLAIM_DUE, parameters);
  }

  removeOf(customerIds: readonly string[]): Promise<readonly string[]> {
    this.database.requireTransaction();
    return this.database.queryValues<string>(REMOVE, [customerIds]);
  }
}
