import { Check, Column, Entity, Index } from 'typeorm';
import { AmountColumn, IdColumn } from '../../platform/database';

/** Part of a credit that a refund has reserved or paid out. The credit is from a credit note or negative invoice. */
@Entity('credit_payout')
@Index('credit_payout_refund_index', ['refundId'])
@Index('credit_payout_payment_index', ['paymentId'])
@Check('credit_payout_amount_check', `"amount" > 0`)
export class CreditPayoutEntity {
  @IdColumn({ to: 'CreditGrantEntity' }) readonly creditId!: string;
  /** `refundId` and `paymentId` have no foreign keys, because refunds and payments belong to higher modules. */
  @IdColumn() readonly refundId!: string;
  @Column({ type: 'varchar', length: 40, collation: 'C' }) readonly paymentId!: string;
  @AmountColumn() readonly amount!: bigint;
  /** False while the refund is pending. */
  @Column({ type: 'boolean', default: false }) readonly isRefunded!: boolean;
}
