import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { ReferenceColumn } from '../../platform/database';

/**
 * Version of a customer's access, incremented by each commit that may change entitlements. Balances with an older version
 * are outdated.
 */
@Entity('customer_access')
export class CustomerAccessEntity {
  @PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' })
  @ForeignKey('CustomerEntity')
  readonly customerId!: string;
  @ReferenceColumn({ nullable: true }) readonly testClockId!: string | null;
  @Column({ type: 'integer' }) readonly version!: number;
}
