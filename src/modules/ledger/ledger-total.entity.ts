import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * Total of an account over the postings of one part of the sessions, so that concurrent sessions do not wait for each other.
 * Kept by triggers on `ledger_posting`.
 */
@Entity('ledger_total')
export class LedgerTotalEntity {
  @PrimaryColumn({ type: 'varchar', length: 60, collation: 'C' }) readonly account!: string;
  @PrimaryColumn({ type: 'char', length: 3 }) readonly currency!: string;
  /** Session that posted, by its number; -1: postings from before the totals were kept. */
  @PrimaryColumn({ type: 'integer' }) readonly part!: number;
  @Column({ type: 'numeric' }) readonly amountMinor!: string;
  @Column({ type: 'bigint' }) readonly postings!: string;
}
