import { Injectable } from '@nestjs/common';
import { Database, type Page, pageById, type PageRequest } from '../../../platform/database';
import type { PaymentMethod } from './domain/payment-method';
import { PaymentMethodEntity } from './payment-method.entity';

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

  async findDefault(customerId: string): Promise<PaymentMethod | null> {
    const [method] = await this.findDefaults([customerId]);
    return method ?? null;
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
  async update({ id, version, isDefault, deletedAt, updatedAt }: PaymentMethod): Promise<void> {
    await this.database.update(PaymentMethodEntity, id, {
      version,
      isDefault,
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
