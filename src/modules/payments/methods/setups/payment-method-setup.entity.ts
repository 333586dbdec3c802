import { Check, Column, Entity, Index } from 'typeorm';
import {
  IdColumn,
  InstantColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../../../platform/database';
import type { PaymentMethodSetup, SetupProvider, SetupStatus } from './domain/payment-method-setup';

@Entity('payment_method_setup')
@Check(
  'payment_method_setup_status_check',
  `"status" IN ('pending', 'succeeded', 'failed', 'expired')`,
)
@Check('payment_method_setup_due_check', `("due_at" IS NOT NULL) = ("status" = 'pending')`)
@Check(
  'payment_method_setup_method_check',
  `("payment_method_id" IS NOT NULL) = ("status" = 'succeeded')`,
)
@Index('payment_method_setup_owner_index', ['customerId', 'id'])
@Index('payment_method_setup_method_index', ['paymentMethodId'], {
  where: '"payment_method_id" IS NOT NULL',
})
@Index('payment_method_setup_due_index', ['dueAt'], { where: '"due_at" IS NOT NULL' })
@Index('payment_method_setup_leased_by_index', ['leasedBy'], {
  where: '"leased_by" IS NOT NULL',
})
export class PaymentMethodSetupEntity implements PaymentMethodSetup {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @Column({ type: 'varchar', length: 20 }) readonly provider!: SetupProvider;
  @Column({ type: 'varchar', length: 255 }) readonly providerReference!: string;
  @Column({ type: 'varchar', length: 20 }) readonly status!: SetupStatus;
  @Column({ type: 'boolean', nullable: true }) readonly isDefault!: boolean | null;
  @ReferenceColumn({ to: 'PaymentMethodEntity', nullable: true }) readonly paymentMethodId!:
    string | null;
  @Column({ type: 'varchar', length: 100, nullable: true }) readonly failureCode!: string | null;
  @InstantColumn() readonly expiresAt!: Date;
  @InstantColumn({ nullable: true }) readonly dueAt!: Date | null;
  @Column({ type: 'integer', nullable: true }) readonly leasedBy!: number | null;
  @Column({ type: 'integer', default: 0 }) readonly attempts!: number;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
