import { Column, Entity, Index } from 'typeorm';
import {
  IdColumn,
  InstantColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../../platform/database';
import type { ProviderName } from '../domain/payment-provider';
import type { PaymentMethod } from './domain/payment-method';

@Entity('payment_method')
@Index('payment_method_owner_index', ['customerId', 'id'])
@Index('payment_method_due_index', ['dueAt'], { where: '"due_at" IS NOT NULL' })
@Index('payment_method_leased_by_index', ['leasedBy'], { where: '"leased_by" IS NOT NULL' })
@Index('payment_method_default_unique', ['customerId'], {
  unique: true,
  where: '"is_default" AND "deleted_at" IS NULL',
})
export class PaymentMethodEntity implements PaymentMethod {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @Column({ type: 'varchar', length: 20 }) readonly provider!: ProviderName;
  @Column({ type: 'varchar', length: 255 }) readonly token!: string;
  @Column({ type: 'varchar', length: 40, nullable: true }) readonly brand!: string | null;
  @Column({ type: 'varchar', length: 4, nullable: true }) readonly last4!: string | null;
  @Column({ type: 'integer', nullable: true }) readonly expiryMonth!: number | null;
  @Column({ type: 'integer', nullable: true }) readonly expiryYear!: number | null;
  @Column({ type: 'boolean' }) readonly isDefault!: boolean;
  @InstantColumn({ nullable: true }) readonly unusableSince!: Date | null;
  @Column({ type: 'varchar', length: 100, nullable: true }) readonly unusableReason!: string | null;
  @InstantColumn({ nullable: true }) readonly deletedAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly dueAt!: Date | null;
  @Column({ type: 'integer', nullable: true }) readonly leasedBy!: number | null;
  @Column({ type: 'integer', default: 0 }) readonly attempts!: number;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
