import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Total of an account over the postings of a part of the database sessions, so that concurrent sessions do not wait for each
 * other. Triggers on `ledger_posting` maintain it.
 */
@Entity('ledger_total')
export class LedgerTotalEntity {
  @PrimaryColumn({ type: 'varchar', length: 60, collation: 'C' }) readonly account!: string;
  @PrimaryColumn({ type: 'char', length: 3 }) readonly currency!: string;
  /** Process id of the database session that posted, modulo 1024; -1: postings from before the totals existed. */
  @PrimaryColumn({ type: 'integer' }) readonly part!: number;
  @Column({ type: 'numeric' }) readonly amountMinor!: string;
  @Column({ type: 'bigint' }) readonly postings!: string;
}
