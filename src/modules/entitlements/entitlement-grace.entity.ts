import { Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { InstantColumn, ReferenceColumn } from '../../platform/database';

/** When a subscription fell behind with a payment; no row where it is not behind. */
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
