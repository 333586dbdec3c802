import { Injectable } from '@nestjs/common';
import { Database, type Page, pageById, type PageRequest } from '../../../platform/database';
import type { PaymentMethod } from './domain/payment-method';
import { PaymentMethodEntity } from './payment-method.entity';

const UNUSABLE = 'SELECT FROM payment_method WHERE id = $1 AND unusable_since IS NOT NULL';

const REMOVE = 'DELETE FROM payment_method WHERE customer_id = ANY ($1) RETURNING id';

/** Deleted methods are found by nothing here. */
@Injectable()
export class PaymentMethodsRepository {
  constructor(private readonly database: Database) {}

  async insert(method: PaymentMethod): Promise<void> {
    await this.database.insert(PaymentMethodEntity, method);
  }

  find(customerId: string, id: string): Promise<PaymentMethod | null> {
    const tail = 'WHERE id = $1 AND customer_id = $2 AND deleted_at IS NULL';
    return this.database.selectOne(PaymentMethodEntity, tail, [id, customerId]);
  }

  /** Locks a method that exists, until the transaction ends: after its customer, before its subscriptions. */
  lock(id: string): Promise<PaymentMethod | null> {
    this.database.requireTransaction();
    return this.database.selectOne(
      PaymentMethodEntity,
      'WHERE id = $1 AND deleted_at IS NULL FOR UPDATE',
      [id],
    );
  }

  /** Returns true for a method whose last decline was final. */
  async isUnusable(id: string): Promise<boolean> {
    const rows = await this.database.query(UNUSABLE, [id]);
    return rows.length > 0;
  }

  async findDefault(customerId: string): Promise<PaymentMethod | null> {
    const [method] = await this.findDefaults([customerId]);
    return method ?? null;
  }

  /** Locks the default of a locked customer until the transaction ends. */
  lockDefault(customerId: string): Promise<PaymentMethod | null> {
    this.database.requireTransaction();
    return this.database.selectOne(
      PaymentMethodEntity,
      'WHERE customer_id = $1 AND is_default AND deleted_at IS NULL FOR UPDATE',
      [customerId],
    );
  }

  findDefaults(customerIds: readonly string[]): Promise<readonly PaymentMethod[]> {
    const tail = 'WHERE customer_id = ANY ($1) AND is_default AND deleted_at IS NULL';
    return this.database.select(PaymentMethodEntity, tail, [customerIds]);
  }

  page(customerId: string, request: PageRequest): Promise<Page<PaymentMethod>> {
    const query = this.database
      .repository(PaymentMethodEntity)
      .createQueryBuilder('method')
      .where('method.customerId = :customerId AND method.deletedAt IS NULL', { customerId });
    return pageById(query, request);
  }

  /** Writes what may change of a method. */
  async update({ id, ...method }: PaymentMethod): Promise<void> {
    const { version, isDefault, unusableSince, unusableReason, deletedAt, updatedAt } = method;
    await this.database.update(PaymentMethodEntity, id, {
      version,
      isDefault,
      unusableSince,
      unusableReason,
      deletedAt,
      updatedAt,
    });
  }

  async removeOf(customerIds: readonly string[]): Promise<readonly string[]> {
    this.database.requireTransaction();
    const rows = await this.database.query<{ id: string }>(REMOVE, [customerIds]);
    return rows.map(({ id }) => id);
  }
}
