import { Entity, Index } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';

/** Start of the grace period of a past due subscription. No row means that no payment is overdue. */
@Entity('entitlement_grace')
@Index('entitlement_grace_customer_index', ['customerId'])
export class EntitlementGraceEntity {
  @IdColumn({ to: 'SubscriptionEntity' }) readonly subscriptionId!: string;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @InstantColumn() readonly startedAt!: Date;
}
