import { Column, Entity } from 'typeorm';
import { IdColumn, ReferenceColumn } from '../../platform/database';

/**
 * Access version of a customer. Each commit that may change a subscription of the customer increments this number, and
 * so does the deletion of the customer. Balances with an older access version are outdated.
 */
@Entity('customer_access')
export class CustomerAccessEntity {
  @IdColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @ReferenceColumn({ nullable: true }) readonly testClockId!: string | null;
  @Column({ type: 'integer' }) readonly version!: number;
}
