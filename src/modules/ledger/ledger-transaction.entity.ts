import { Check, Column, Entity, Index, Unique } from 'typeorm';
import type { LedgerTransaction } from '../../core/ledger';
import { IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { PostedTransaction } from './domain/posted-transaction';

/**
 * Append-only: triggers refuse updates, and refuse deletions except for customers on test clocks. Triggers also refuse
 * a commit if the postings of a new transaction do not balance.
 */
@Entity('ledger_transaction')
@Unique('ledger_transaction_source_unique', ['sourceId', 'kind', 'sourceVersion'])
// These indexes contain an expression (the time in the id), which an entity cannot declare.
@Index('ledger_transaction_customer_time_index', { synchronize: false })
@Index('ledger_transaction_currency_time_index', { synchronize: false })
@Index('ledger_transaction_kind_time_index', { synchronize: false })
@Index('ledger_transaction_occurred_time_index', { synchronize: false })
@Check(
  'ledger_transaction_kind_check',
  `"kind" IN ('invoice_finalized', 'payment', 'refund', 'credit_note', 'void', 'write_off', 'recovery', 'revenue_release', 'credit_applied', 'dispute_withdrawn', 'dispute_reinstated', 'dispute_lost')`,
)
export class LedgerTransactionEntity implements Omit<PostedTransaction, 'postings'> {
  @IdColumn() readonly id!: string;
  @Column({ type: 'varchar', length: 20 }) readonly kind!: LedgerTransaction['kind'];
  @ReferenceColumn() readonly sourceId!: string;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @InstantColumn() readonly occurredAt!: Date;
  @Column({ type: 'integer', default: 0 }) readonly sourceVersion!: number;
}
