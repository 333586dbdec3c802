import { Injectable } from '@nestjs/common';
import { searchedParts } from '../../core/search-text';
import {
  containsPart,
  Database,
  listOfAnyLength,
  onViolation,
  ListQuery,
  type ListSummary,
  type LockPurpose,
  orderOf,
  type Page,
  type PageRequest,
  Reports,
  ROW_LOCKS,
  searchedText,
} from '../../platform/database';
import { CustomerEntity } from './customer.entity';
import { customerExternalIdTaken } from './customers.errors';
import type { Customer, CustomerFilter } from './domain/customer';

const TEST_CLOCKS = `
  SELECT id, test_clock_id AS clock FROM customer
  WHERE id = ANY (${listOfAnyLength('$1', 'text')}) AND deleted_at IS NULL`;

const LOCK_EXISTING = `
  SELECT id FROM customer WHERE id = ANY ($1) AND deleted_at IS NULL ORDER BY id ${ROW_LOCKS.reference}`;

const EXISTING = 'WHERE id = $1 AND deleted_at IS NULL';

const NO_CLOCK = 'none';

/** SQL expression for the text in which a search looks for words. Must be the expression of the trigram index. */
const SEARCHED_TEXT = searchedText('name', "coalesce(email, '')", "coalesce(external_id, '')");

/** SQL expression that sorts names without regard to case. Must be the expression of the index on the name. */
const NAME_ORDER = 'lower(name)';

/**
 * Open invoices with an unpaid amount. Joins a table of another module (`invoicing`), so that a page needs only one
 * statement.
 */
const OWED = {
  table: 'invoice',
  column: 'customer_id',
  condition: `status = 'open' AND amount_due > amount_paid + amount_credited`,
} as const;

/** Reads and writes customers. A method returns deleted customers only if its comment says so. */
@Injectable()
export class CustomersRepository {
  constructor(
    private readonly database: Database,
    private readonly reports: Reports,
  ) {}

  async insert(customer: Customer): Promise<void> {
    await this.write(customer, () => this.database.insert(CustomerEntity, customer));
  }

  find(id: string): Promise<Customer | null> {
    return this.database.selectOne(CustomerEntity, EXISTING, [id]);
  }

  findAll(ids: readonly string[]): Promise<readonly Customer[]> {
    const tail = 'WHERE id = ANY ($1) AND deleted_at IS NULL';
    return this.database.select(CustomerEntity, tail, [ids]);
  }

  findExistingIds(ids: readonly string[]): Promise<readonly string[]> {
    return this.database.queryValues<string>(
      'SELECT id FROM customer WHERE id = ANY ($1) AND deleted_at IS NULL',
      [ids],
    );
  }

  /** Locks the given customers that are not deleted, by ascending id to avoid deadlocks. Returns their ids. */
  lockExistingIds(ids: readonly string[]): Promise<readonly string[]> {
    this.database.requireTransaction();
    return this.database.queryValues<string>(LOCK_EXISTING, [ids]);
  }

  /** Returns the customer, deleted or not. */
  findForHistory(id: string): Promise<Customer | null> {
    return this.database.selectOne(CustomerEntity, 'WHERE id = $1', [id]);
  }

  /** Returns customers, deleted ones included. */
  findAllForHistory(ids: readonly string[]): Promise<readonly Customer[]> {
    return this.database.select(CustomerEntity, 'WHERE id = ANY ($1)', [ids]);
  }

  /** Returns the customer, locked until the transaction ends; null if it does not exist or is deleted. */
  lock(id: string, purpose: LockPurpose): Promise<Customer | null> {
    return this.database.selectOne(CustomerEntity, `${EXISTING} ${ROW_LOCKS[purpose]}`, [id]);
  }

  /**
   * Returns the test clock id of each customer, by customer id. Null: the customer has no test clock. Unknown and
   * deleted customers are left out.
   */
  async testClocksOf(ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    const rows = await this.database.queryPrepared<{ id: string; clock: string | null }>(
      'customers-test-clocks',
      TEST_CLOCKS,
      [ids],
    );
    return new Map(rows.map(({ id, clock }) => [id, clock]));
  }

  /** Returns the customer, deleted or not, locked against deletion until the transaction ends. */
  lockForHistory(id: string): Promise<Customer | null> {
    const locked = `WHERE id = $1 ${ROW_LOCKS.reference}`;
    return this.database.selectOne(CustomerEntity, locked, [id]);
  }

  page(filter: CustomerFilter, request: PageRequest): Promise<Page<Customer>> {
    return customerQuery(filter).page(this.database, CustomerEntity, request);
  }

  summarize(filter: CustomerFilter): Promise<readonly ListSummary[]> {
    return customerQuery(filter).summarize(this.reports, {});
  }

  async update(customer: Customer): Promise<void> {
    await this.write(customer, () =>
      this.database.updateRevised(CustomerEntity, customer, [
        'name',
        'email',
        'externalId',
        'currency',
        'currencyLocked',
        'timezone',
        'address',
        'taxExempt',
        'taxRateIds',
        'invoiceGraceHours',
        'metadata',
        'deletedAt',
      ]),
    );
  }

  /** Returns the number of customers on a test clock, deleted ones included. */
  countOnTestClock(testClockId: string): Promise<number> {
    return this.database.repository(CustomerEntity).countBy({ testClockId });
  }

  /** Returns the ids of the customers on a test clock, deleted ones included. */
  idsOnTestClock(testClockId: string): Promise<readonly string[]> {
    return this.database.queryValues<string>(
      'SELECT id FROM customer WHERE test_clock_id = $1 ORDER BY id',
      [testClockId],
    );
  }

  /** Locks up to `limit` customers on a test clock, deleted ones included. Returns their ids. */
  lockOnTestClock(testClockId: string, limit: number): Promise<readonly string[]> {
    this.database.requireTransaction();
    return this.database.queryValues<string>(
      'SELECT id FROM customer WHERE test_clock_id = $1 ORDER BY id LIMIT $2 FOR UPDATE',
      [testClockId, limit],
    );
  }

  /** Deletes the rows of customers. Fails if another row still refers to one of them. */
  async remove(ids: readonly string[]): Promise<void> {
    this.database.requireTransaction();
    await this.database.query('DELETE FROM customer WHERE id = ANY ($1)', [ids]);
  }

  private async write(customer: Customer, statement: () => Promise<void>): Promise<void> {
    await onViolation(statement(), 'customer_external_id_unique', () =>
      customerExternalIdTaken(customer.externalId ?? ''),
    );
  }
}

function customerQuery(filter: CustomerFilter): ListQuery {
  const { ids, externalId, email, text, currency, created } = filter;
  const clock = filter.testClockId === NO_CLOCK ? null : filter.testClockId;
  const order = orderOf(filter.sort);
  const query = new ListQuery('customer')
    .whereIf(true, 'deleted_at IS NULL')
    .where('id = ANY ($)', ids)
    .where('external_id = $', externalId)
    .where('email = $', email)
    .where('currency = $', currency)
    .whereIf(filter.testClockId === NO_CLOCK, 'test_clock_id IS NULL')
    .where('test_clock_id = $', clock)
    .whereBetween('created_at', created)
    .orderBy(order?.column === 'name' ? { ...order, column: NAME_ORDER } : order);
  for (const part of searchedParts(text ?? '')) {
    query.where(containsPart(SEARCHED_TEXT, '$'), part);
  }
  const isSelective = [ids, externalId, email, text, clock].some((one) => one !== null);
  if (!filter.isOwing) return query;
  return query.whereReferredBy(OWED, { column: 'currency', value: currency }, { isSelective });
}
