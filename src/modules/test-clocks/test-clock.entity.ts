import { Check, Column, Entity, Index } from 'typeorm';
import { IdColumn, InstantColumn, RowVersionColumn } from '../../platform/database';
import type { TestClock, TestClockStatus } from './domain/test-clock';

@Entity('test_clock')
@Index('test_clock_leased_by_index', ['leasedBy'], { where: '"leased_by" IS NOT NULL' })
@Index('test_clock_deleted_index', ['id'], { where: '"deleted_at" IS NOT NULL' })
@Check('test_clock_status_check', `"status" IN ('ready', 'advancing', 'failed')`)
@Check('test_clock_target_check', `("status" = 'ready') = ("target_at" IS NULL)`)
export class TestClockEntity implements TestClock {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 200 }) readonly name!: string;
  @InstantColumn() readonly instant!: Date;
  @Column({ type: 'varchar', length: 10 }) readonly status!: TestClockStatus;
  @InstantColumn({ nullable: true }) readonly targetAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly leaseEndsAt!: Date | null;
  @Column({ type: 'integer', nullable: true }) readonly leasedBy!: number | null;
  /** Real time at which the deletion started. The row stays until all customers on the clock are purged. */
  @InstantColumn({ nullable: true }) readonly deletedAt?: Date | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
