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
    const [id] = await this.postAll([{ ...transaction, ...facts }]);
    return id ?? null;
  }

  /**
   * The same for many at once, with one statement for all.
   * @returns the ids of those that were written
   * @throws {InvariantError} when one does not balance, or a source posted its kind before
   */
  async postAll(
    transactions: readonly (LedgerTransaction & PostingFacts)[],
  ): Promise<readonly string[]> {
    this.database.requireTransaction();
    transactions.forEach(assertBalanced);
    const posted = transactions
      .filter(({ postings }) => postings.length > 0)
      .map((transaction) => ({ id: newId('ltx'), ...transaction }));
    await this.ledger.insertAll(posted);
    return posted.map(({ id }) => id);
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
