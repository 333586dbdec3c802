import { Injectable } from '@nestjs/common';
import { assertBalanced, type LedgerTransaction } from '../../core/ledger';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox, toEventRecord } from '../../platform/outbox';
import { CustomersService } from '../customers';
import {
  ALL_TRANSACTIONS,
  creditChangeOf,
  type AccountBalance,
  type PostedTransaction,
  type PostingContext,
  type TransactionFilter,
} from './domain/posted-transaction';
import { creditBalanceTransactionCreated } from './ledger.events';
import { LedgerRepository } from './ledger.repository';

@Injectable()
export class LedgerService {
  constructor(
    private readonly database: Database,
    private readonly ledger: LedgerRepository,
    private readonly outbox: Outbox,
    private readonly customers: CustomersService,
  ) {}

  /**
   * Writes a ledger transaction in the caller's database transaction, which also contains the change that is posted.
   * Does not write a ledger transaction without postings, for example for an invoice of zero.
   * @returns the id, or null if nothing was written
   * @throws {InvariantError} if the transaction does not balance, or its source has already posted this kind and
   *   version
   */
  async post(transaction: LedgerTransaction, context: PostingContext): Promise<string | null> {
    const [id] = await this.postAll([{ ...transaction, ...context }]);
    return id ?? null;
  }

  /**
   * Writes many ledger transactions with one statement, and leaves out transactions without postings. Records an event
   * for each transaction that changes a credit balance.
   * @returns the ids of the written transactions
   * @throws {InvariantError} when a transaction does not balance, or its source has already posted this kind and
   *   version
   */
  async postAll(
    transactions: readonly (LedgerTransaction & PostingContext)[],
  ): Promise<readonly string[]> {
    this.database.requireTransaction();
    transactions.forEach(assertBalanced);
    const posted = transactions
      .filter(({ postings }) => postings.length > 0)
      .map((transaction) => ({ id: newId('ltx'), ...transaction }));
    await this.ledger.insertAll(posted);
    await this.outbox.recordAll(
      posted
        .filter((transaction) => creditChangeOf(transaction) !== 0n)
        .map((after) =>
          toEventRecord(creditBalanceTransactionCreated, { after, occurredAt: after.occurredAt }),
        ),
    );
    return posted.map(({ id }) => id);
  }

  /**
   * Returns, by customer, the time of the latest transaction that is dated after `now`. Such a date is possible if
   * another process has a faster clock, or if this process waited for a transaction. Omits customers without such a
   * transaction. Ignores dates more than a minute after `now`, because a wrong clock wrote them.
   */
  latestAfter(customerIds: readonly string[], now: Date): Promise<ReadonlyMap<string, Date>> {
    return this.ledger.latestAfter(customerIds, now);
  }

  /** Returns the transactions that one object, such as an invoice, has posted, oldest first. */
  transactionsOf(sourceId: string): Promise<readonly PostedTransaction[]> {
    return this.ledger.findBySource(sourceId);
  }

  list(filter: TransactionFilter, request: PageRequest): Promise<Page<PostedTransaction>> {
    return this.ledger.page(filter, request);
  }

  /**
   * Returns the transactions that changed the credit balance of a customer.
   * @throws {ProblemError} `customer_not_found`
   */
  async listCreditOf(customerId: string, request: PageRequest): Promise<Page<PostedTransaction>> {
    await this.customers.get(customerId);
    return this.list({ ...ALL_TRANSACTIONS, customerId, account: 'customer_credit' }, request);
  }

  /**
   * Returns the balance of every account with postings, by currency.
   * @param customerId null: all customers
   * @param before counts only postings before this instant; null: all postings
   * @throws {ProblemError} `too_many_reports`
   */
  balances(customerId: string | null, before: Date | null): Promise<readonly AccountBalance[]> {
    return this.ledger.balances(customerId, before);
  }
}
