import { Column, Entity } from 'typeorm';
import { IdColumn, ReferenceColumn } from '../../platform/database';

/**
 * Version of a customer's access, incremented by each commit that may change entitlements. Balances with an older version
 * are outdated.
 */
@Entity('customer_access')
export class CustomerAccessEntity {
  @IdColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @ReferenceColumn({ nullable: true }) readonly testClockId!: string | null;
  @Column({ type: 'integer' }) readonly version!: number;
}
