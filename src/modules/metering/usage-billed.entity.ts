import { Check, Column, Entity, ForeignKey, Index } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import { GroupColumn } from './store/usage-columns';

/**
 * Billed usage of a subscription item in a period: one row for each group of the meter, or one row with quantity 0 if
 * there was no usage. Written in the transaction of the invoice.
 */
@Entity('usage_billed')
@Index('usage_billed_stream_index', ['streamId', 'meterId', 'periodEndAt'])
@Index('usage_billed_item_index', ['itemId', 'periodStartAt'])
@Index('usage_billed_late_index', ['subscriptionId'], { where: '"is_late"' })
@Check('usage_billed_check', `"period_start_at" < "period_end_at"`)
export class UsageBilledEntity {
  @IdColumn() readonly id!: string;
  @Column({ type: 'bigint' }) @ForeignKey('UsageStreamEntity') readonly streamId!: string;
  @ReferenceColumn({ to: 'MeterEntity' }) readonly meterId!: string;
  @ReferenceColumn() readonly itemId!: string;
  @InstantColumn() readonly periodStartAt!: Date;
  @InstantColumn() readonly periodEndAt!: Date;
  /** Instant from which events were counted; before the start of the period if values carry over into the period. */
  @InstantColumn() readonly countedFromAt!: Date;
  @GroupColumn() readonly groupKey!: string;
  @Column({ type: 'numeric' }) readonly quantity!: string;
  @Column({ type: 'bigint' }) readonly events!: string;
  @Column({ type: 'bigint' }) readonly upToPosition!: string;
  @ReferenceColumn({ nullable: true }) readonly invoiceLineId!: string | null;
  @ReferenceColumn({ nullable: true }) readonly subscriptionId!: string | null;
  /** Data with which the invoice module bills the period again. */
  @Column({ type: 'jsonb' }) readonly terms!: object;
  /** True if the period has late usage (events stored or voided after the bill) that is not billed yet. */
  @Column({ type: 'boolean' }) readonly isLate!: boolean;
  @InstantColumn() readonly createdAt!: Date;
}
