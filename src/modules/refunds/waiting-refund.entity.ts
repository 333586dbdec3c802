import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import { AmountColumn, IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';

/**
 * A refund that the provider reported, but that cannot be stored as a refund yet: its payment has not succeeded in this
 * database, or too little of the payment is left.
 */
@Entity('waiting_refund')
@Check('waiting_refund_amount_check', `"amount" >= 1 AND "amount" <= 9007199254740991`)
export class WaitingRefundEntity {
  @IdColumn({ to: 'PaymentEntity' }) readonly paymentId!: string;
  @PrimaryColumn({ type: 'varchar', length: 255 }) readonly reference!: string;
  /** Our id of the refund; null if the refund was made at the provider. */
  @ReferenceColumn({ nullable: true }) readonly refundId!: string | null;
  /** Minor units of the payment's currency. */
  @AmountColumn() readonly amount!: bigint;
  @Column({ type: 'varchar', length: 500, nullable: true }) readonly reason!: string | null;
  @InstantColumn() readonly createdAt!: Date;
}
