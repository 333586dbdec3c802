import { Column, Entity } from 'typeorm';
import { IdColumn, ReferenceColumn } from '../../platform/database';

/**
 * Access version of a customer: a number that is incremented by each commit that may change the entitlements of the
 * customer. Balances with an older version are outdated.
 */
@Entity('customer_access')
export class CustomerAccessEntity {
  @IdColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @ReferenceColumn({ nullable: true }) readonly testClockId!: string | null;
  @Column({ type: 'integer' }) readonly version!: number;
}
