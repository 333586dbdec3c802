import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { LedgerAccount, Posting } from '../../core/ledger';
import { AmountColumn, IdColumn } from '../../platform/database';

/** Append-only, like {@link LedgerTransactionEntity}. */
@Entity('ledger_posting')
@Check('ledger_posting_amount_check', `"amount_minor" <> 0`)
@Check('ledger_posting_position_check', `"position" >= 1`)
@Index('ledger_posting_account_index', ['account', 'transactionId'], {
  where: `"account" <> 'accounts_receivable' AND "account" <> 'revenue' AND "account" <> 'deferred_revenue'`,
})
export class LedgerPostingEntity implements Posting {
  @IdColumn({ to: 'LedgerTransactionEntity' }) readonly transactionId!: string;
  @PrimaryColumn({ type: 'integer' }) readonly position!: number;
  @Column({ type: 'varchar', length: 60, collation: 'C' }) readonly account!: LedgerAccount;
  /** Minor units; positive for a debit, negative for a credit. */
  @AmountColumn() readonly amountMinor!: bigint;
}
