import { Injectable } from '@nestjs/common';
import { Database, ListQuery, type Page, type PageRequest } from '../../../platform/database';
import type { PaymentMethod } from './domain/payment-method';
import { PaymentMethodEntity } from './payment-method.entity';

const UNUSABLE = 'SELECT FROM payment_method WHERE id = $1 AND unusable_since IS NOT NULL';

const NOTE_DETACHMENT = `
  UPDATE payment_method SET due_at = $3, leased_by = NULL, attempts = $4 WHERE id = $1 AND due_at = $2`;

const IN_USE = `
  SELECT FROM payment_method
  WHERE customer_id = $1 AND provider = $2 AND token = $3 AND deleted_at IS NULL LIMIT 1`;

const DELETED = `
  SELECT FROM payment_method
  WHERE customer_id = $1 AND provider = $2 AND token = $3
  GROUP BY customer_id HAVING bool_and(deleted_at IS NOT NULL)`;

const CHARGED = `
  SELECT FROM payment WHERE due_at IS NOT NULL AND provider = $1 AND provider_token = $2 LIMIT 1`;

/** Stores payment methods. Only the queries for detaching methods at the provider return deleted methods. */
@Injectable()
export class PaymentMethodsRepository {
  readonly table = 'payment_method';

  constructor(private readonly database: Database) {}

  async insert(method: PaymentMethod): Promise<void> {
    await this.database.insert(PaymentMethodEntity, method);
  }

  find(customerId: string, id: string): Promise<PaymentMethod | null> {
    const tail = 'WHERE id = $1 AND customer_id = $2 AND deleted_at IS NULL';
    return this.database.selectOne(PaymentMethodEntity, tail, [id, customerId]);
  }

  /**
   * Locks a method until the transaction ends; null if the method is deleted. A method is locked after its customer and
   * before the subscriptions of the customer.
   */
  lock(id: string): Promise<PaymentMethod | null> {
    return this.database.selectOne(
      PaymentMethodEntity,
      'WHERE id = $1 AND deleted_at IS NULL FOR UPDATE',
      [id],
    );
  }

  async isUnusable(id: string): Promise<boolean> {
    const rows = await this.database.query(UNUSABLE, [id]);
    return rows.length > 0;
  }

  lockDefault(customerId: string): Promise<PaymentMethod | null> {
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
    const query = new ListQuery('payment_method').where(
      'customer_id = $ AND deleted_at IS NULL',
      customerId,
    );
    return query.page(this.database, PaymentMethodEntity, request);
  }

  /** Writes the columns that can change, except `leased_by` and `attempts`, which only detachment changes. */
  async update(method: PaymentMethod): Promise<void> {
    await this.database.updateRevised(PaymentMethodEntity, method, [
      'isDefault',
      'unusableSince',
      'unusableReason',
      'deletedAt',
      'dueAt',
    ]);
  }

  /** Returns a deleted method that is not detached yet, otherwise null. */
  findToDetach(id: string): Promise<PaymentMethod | null> {
    const tail = 'WHERE id = $1 AND due_at IS NOT NULL';
    return this.database.selectOne(PaymentMethodEntity, tail, [id]);
  }

  /**
   * Writes the result of an attempt to detach a method. Writes nothing if another process has claimed the method
   * meanwhile.
   */
  async recordDetachment(
    { id, dueAt }: PaymentMethod,
    next: Pick<PaymentMethod, 'dueAt' | 'attempts'>,
  ): Promise<void> {
    await this.database.query(NOTE_DETACHMENT, [id, dueAt, next.dueAt, next.attempts]);
  }

  async isTokenInUse({ customerId, provider, token }: PaymentMethod): Promise<boolean> {
    return (await this.database.query(IN_USE, [customerId, provider, token])).length > 0;
  }

  async isTokenDeleted({
    customerId,
    provider,
    token,
  }: Pick<PaymentMethod, 'customerId' | 'provider' | 'token'>): Promise<boolean> {
    return (await this.database.query(DELETED, [customerId, provider, token])).length > 0;
  }

  /** Returns true while a payment without a final outcome charges the token of the method. */
  async isBeingCharged({ provider, token }: PaymentMethod): Promise<boolean> {
    return (await this.database.query(CHARGED, [provider, token])).length > 0;
  }
}
