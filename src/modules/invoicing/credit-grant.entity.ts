import { Check, Column, Entity, Index, Unique } from 'typeorm';
import { AmountColumn, IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { StoredCreditGrant } from './domain/credit-grant';

/** Credit that a customer has, from a negative invoice, a credit note or a payment. */
@Entity('credit_grant')
@Unique('credit_grant_source_unique', ['sourceId'])
@Index('credit_grant_owner_index', ['customerId', 'id'])
@Index('credit_grant_customer_index', ['customerId', 'createdAt', 'id'], {
  where: '"remaining" > 0 OR "reserved" > 0',
})
@Check(
  'credit_grant_remaining_check',
  `"remaining" >= 0 AND "reserved" >= 0 AND "refunded" >= 0 AND "lost" >= 0 AND "remaining" + "reserved" + "refunded" + "lost" <= "amount"`,
)
export class CreditGrantEntity implements StoredCreditGrant {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @AmountColumn() readonly amount!: bigint;
  @AmountColumn() readonly remaining!: bigint;
  @AmountColumn({ default: 0 }) readonly reserved!: bigint;
  @AmountColumn({ default: 0 }) readonly refunded!: bigint;
  @AmountColumn({ default: 0 }) readonly lost!: bigint;
  @ReferenceColumn() readonly sourceId!: string;
  @InstantColumn() readonly createdAt!: Date;
}
