import { Check, Column, Entity, Index, Unique } from 'typeorm';
import { AmountColumn, IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { MrrChange, MrrChangeKind } from './domain/mrr-change';

@Entity('mrr_change')
@Unique('mrr_change_sequence_unique', ['subscriptionId', 'sequence'])
@Index('mrr_change_changed_index', ['changedAt', 'id'])
@Index('mrr_change_customer_changed_index', ['customerId', 'changedAt', 'id'])
@Index('mrr_change_currency_changed_index', ['currency', 'changedAt', 'id'])
@Index('mrr_change_kind_changed_index', ['kind', 'changedAt', 'id'])
@Check(
  'mrr_change_kind_check',
  `"kind" IN ('new', 'expansion', 'contraction', 'churn', 'reactivation')`,
)
@Check('mrr_change_sequence_check', `"sequence" > 0`)
@Check('mrr_change_amounts_check', `"before_minor" <> "after_minor"`)
export class MrrChangeEntity implements MrrChange {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'SubscriptionEntity' }) readonly subscriptionId!: string;
  @Column({ type: 'integer' }) readonly sequence!: number;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @Column({ type: 'varchar', length: 20 }) readonly kind!: MrrChangeKind;
  @AmountColumn() readonly beforeMinor!: bigint;
  @AmountColumn() readonly afterMinor!: bigint;
  @InstantColumn() readonly changedAt!: Date;
  @Column({ type: 'boolean' }) readonly isBackfilled!: boolean;
}
