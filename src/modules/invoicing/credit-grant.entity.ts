import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { AmountColumn, IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { StoredCreditGrant } from './domain/credit-grant';

/** Credit that a customer has, from a negative invoice or a credit note. */
@Entity('credit_grant')
@Index('credit_grant_customer_index', ['customerId', 'createdAt', 'id'], {
  where: '"remaining" > 0',
})
@Check('credit_grant_remaining_check', `"remaining" >= 0 AND "remaining" <= "amount"`)
export class CreditGrantEntity implements StoredCreditGrant {
  @IdColumn() readonly id!: string;
  @ReferenceColumn()
  @ForeignKey('CustomerEntity')
  readonly customerId!: string;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @AmountColumn() readonly amount!: bigint;
  @AmountColumn() readonly remaining!: bigint;
  /** The invoice or credit note it comes from. */
  @ReferenceColumn() readonly sourceId!: string;
  @InstantColumn() readonly createdAt!: Date;
}
