import { Column, Entity } from 'typeorm';
import { IdColumn, ReferenceColumn } from '../../platform/database';

/**
 * Access version of a customer. It is incremented in each commit that may change a subscription of the customer, and
 * when the customer is deleted. Entitlement balances with an older access version are outdated.
 */
@Entity('customer_access')
export class CustomerAccessEntity {
  @IdColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @ReferenceColumn({ nullable: true }) readonly testClockId!: string | null;
  @Column({ type: 'integer' }) readonly version!: number;
}
