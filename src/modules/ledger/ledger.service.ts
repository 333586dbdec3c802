import { Injectable } from '@nestjs/common';
import { assertBalanced, type LedgerAccount, type LedgerTransaction } from '../../core/ledger';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { newId } from '../../platform/ids';
import type {
  AccountBalance,
  CustomerBalance,
  PostedTransaction,
  PostingFacts,
  TransactionFilter,
} from './domain/posted-transaction';
import { LedgerRepository } from './ledger.repository';

@Injectable()
export class LedgerService {
  constructor(
    private readonly database: Database,
    private readonly ledger: LedgerRepository,
  ) {}

  /**
   * Writes a transaction into the books, in the commit of the fact it tells of. One without postings, such as that of an
   * invoice over nothing, is not written.
   * @returns its id; null when there was nothing to write
   * @throws {InvariantError} when it does not balance, or the source posted its kind before
   */
  async post(transaction: LedgerTransaction, facts: PostingFacts): Promise<string | null> {
    this.database.requireTransaction();
    assertBalanced(transaction);
    if (transaction.postings.length === 0) return null;
    const id = newId('ltx');
    await this.ledger.insert({ id, ...transaction, ...facts });
    return id;
  }

  /** All that was posted for a source, in the order in which it was: what a void takes back. */
  transactionsOf(sourceId: string): Promise<readonly PostedTransaction[]> {
    return this.ledger.findBySource(sourceId);
  }

  list(filter: TransactionFilter, request: PageRequest): Promise<Page<PostedTransaction>> {
    return this.ledger.page(filter, request);
  }

  /** Every account that was ever posted to, by currency. */
  balances(customerId: string | null = null): Promise<readonly AccountBalance[]> {
    return this.ledger.balances(customerId);
  }

  /** What of an account is each customer's, without those for whom it is zero. */
  customerBalances(account: LedgerAccount): Promise<readonly CustomerBalance[]> {
    return this.ledger.customerBalances(account);
  }
}
