import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * One part of the running total of an account in a currency. The total is the sum of all parts. Each database session
 * adds to one part, chosen by its process id, so that sessions rarely wait for each other. Triggers on `ledger_posting`
 * maintain the rows.
 */
@Entity('ledger_total')
export class LedgerTotalEntity {
  @PrimaryColumn({ type: 'varchar', length: 60, collation: 'C' }) readonly account!: string;
  @PrimaryColumn({ type: 'char', length: 3 }) readonly currency!: string;
  /**
   * Number of the part: the process id of the database session modulo 1024. Part -1 sums the postings made before this
   * table existed.
   */
  @PrimaryColumn({ type: 'integer' }) readonly part!: number;
  @Column({ type: 'numeric' }) readonly amountMinor!: string;
  @Column({ type: 'bigint' }) readonly postings!: string;
}
