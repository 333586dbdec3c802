import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { ReferenceColumn } from '../../platform/database';

/**
 * Counts the commits that may have changed what a customer has. What was resolved before the last of them holds no more.
 */
@Entity('customer_access')
export class CustomerAccessEntity {
  @PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' })
  @ForeignKey('CustomerEntity')
  readonly customerId!: string;
  @ReferenceColumn({ nullable: true }) readonly testClockId!: string | null;
  @Column({ type: 'integer' }) readonly version!: number;
}
