import { Check, Column, Entity, Index, Unique } from 'typeorm';
import {
  AmountColumn,
  IdColumn,
  InstantColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../../platform/database';
import type { ProviderName } from '../domain/payment-provider';
import type { DisputeStatus } from '../domain/reported-dispute';
import type { Dispute } from './domain/dispute';

@Entity('dispute')
@Unique('dispute_reference_unique', ['provider', 'providerReference'])
@Check('dispute_status_check', `"status" IN ('inquiry', 'open', 'won', 'lost', 'closed')`)
@Check('dispute_amount_check', `"amount" >= 1 AND "amount" <= 9007199254740991`)
@Check(
  'dispute_funds_check',
  `"amount_reinstated" >= 0 AND "amount_lost" >= 0 AND "amount_reinstated" + "amount_lost" <= "amount_withdrawn"`,
)
@Index('dispute_customer_index', ['customerId', 'id'])
@Index('dispute_payment_index', ['paymentId', 'id'])
@Index('dispute_status_index', ['status', 'id'])
export class DisputeEntity implements Dispute {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @ReferenceColumn({ to: 'PaymentEntity' }) readonly paymentId!: string;
  @Column({ type: 'varchar', length: 20 }) readonly provider!: ProviderName;
  @Column({ type: 'varchar', length: 255 }) readonly providerReference!: string;
  @Column({ type: 'varchar', length: 20 }) readonly status!: DisputeStatus;
  @Column({ type: 'varchar', length: 100, nullable: true }) readonly reason!: string | null;
  @AmountColumn() readonly amount!: bigint;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @AmountColumn({ default: 0 }) readonly amountWithdrawn!: bigint;
  @AmountColumn({ default: 0 }) readonly amountReinstated!: bigint;
  @AmountColumn({ default: 0 }) readonly amountLost!: bigint;
  @Column({ type: 'boolean' }) readonly isRefundable!: boolean;
  @InstantColumn({ nullable: true }) readonly evidenceDueAt!: Date | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
