import { Entity, Index } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';

/**
 * Start of the grace period of a subscription that became past due or unpaid. The row is deleted when the subscription
 * is neither past due nor unpaid any more.
 */
@Entity('entitlement_grace')
@Index('entitlement_grace_customer_index', ['customerId'])
export class EntitlementGraceEntity {
  @IdColumn({ to: 'SubscriptionEntity' }) readonly subscriptionId!: string;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @InstantColumn() readonly startedAt!: Date;
}
