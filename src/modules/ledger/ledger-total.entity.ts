import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Running total of an account. An account has several rows, one for each group of database sessions, so that sessions that post
 * at the same time do not wait for each other. Triggers on `ledger_posting` maintain the rows.
 */
@Entity('ledger_total')
export class LedgerTotalEntity {
  @PrimaryColumn({ type: 'varchar', length: 60, collation: 'C' }) readonly account!: string;
  @PrimaryColumn({ type: 'char', length: 3 }) readonly currency!: string;
  /** Group of the database session that posted: its process id modulo 1024. -1 for postings from before the totals existed. */
  @PrimaryColumn({ type: 'integer' }) readonly part!: number;
  @Column({ type: 'numeric' }) readonly amountMinor!: string;
  @Column({ type: 'bigint' }) readonly postings!: string;
}
