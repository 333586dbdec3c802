import { Check, Column, Entity, Index } from 'typeorm';
import { ExactJsonColumn, IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { ItemEnd, ProrationMode, SoldPrice, SubscriptionItem } from './domain/subscription';

@Entity('subscription_item')
@Index('subscription_item_subscription_index', ['subscriptionId', 'id'])
@Check('subscription_item_span_check', `"start_at" <= "end_at"`)
@Check('subscription_item_quantity_check', `"quantity" >= 0`)
@Check('subscription_item_proration_check', `"proration" IN ('day', 'second', 'none')`)
@Check('subscription_item_ended_by_check', `"ended_by" IN ('pause', 'day_change', 'second_change')`)
export class SubscriptionItemEntity implements SubscriptionItem {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'SubscriptionEntity' }) readonly subscriptionId!: string;
  @ReferenceColumn({ nullable: true }) readonly addonId!: string | null;
  @ExactJsonColumn() readonly price!: SoldPrice;
  @Column({ type: 'numeric' }) readonly quantity!: string;
  @Column({ type: 'varchar', length: 10 }) readonly proration!: ProrationMode;
  @InstantColumn() readonly startAt!: Date;
  @InstantColumn({ nullable: true }) readonly endAt!: Date | null;
  @Column({ type: 'boolean' }) readonly isPaused!: boolean;
  @InstantColumn({ nullable: true }) readonly plannedEndAt!: Date | null;
  @Column({ type: 'varchar', length: 20, nullable: true }) readonly endedBy!: ItemEnd | null;
}
