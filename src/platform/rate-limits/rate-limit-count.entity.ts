import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Number of requests of a caller in a minute, in all processes. The table is unlogged: a crash empties it. */
@Entity('rate_limit_count')
export class RateLimitCountEntity {
  @PrimaryColumn({ type: 'timestamptz', precision: 3 }) readonly windowStart!: Date;
  @PrimaryColumn({ type: 'varchar', length: 120, collation: 'C' }) readonly bucket!: string;
  @Column({ type: 'bigint' }) readonly requestCount!: string;
}
