import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { InstantColumn } from '../database';

/** Rows of due work that one process claimed together. The record is deleted when the lease of the rows ends. */
@Entity('claimed_batch')
export class ClaimedBatchEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  readonly id!: string;
  /** Number of the process that claimed the rows. */
  @Column({ type: 'integer' }) readonly leasedBy!: number;
  @Column({ type: 'varchar', length: 40 }) readonly work!: string;
  @Column({ type: 'text', array: true }) readonly rowIds!: readonly string[];
  @InstantColumn() readonly leaseEndsAt!: Date;
}
