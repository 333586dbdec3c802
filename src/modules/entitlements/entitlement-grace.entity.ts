import { Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { InstantColumn, ReferenceColumn } from '../../platform/database';

/** Start of the grace period of a past due subscription. No row means that no payment is overdue. */
@Entity('entitlement_grace')
@Index('entitlement_grace_customer_index', ['customerId'])
export class EntitlementGraceEntity {
  @PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' })
  @ForeignKey('SubscriptionEntity')
  readonly subscriptionId!: string;
  @ReferenceColumn()
  @ForeignKey('CustomerEntity')
  readonly customerId!: string;
  @InstantColumn() readonly startedAt!: Date;
}
