import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import {
  Database,
  type Page,
  pageById,
  type PageRequest,
  violatedConstraint,
} from '../../platform/database';
import { CustomerEntity } from './customer.entity';
import { customerExternalIdTaken } from './customers.errors';
import type { Customer, CustomerFilter } from './domain/customer';

/**
 * `change` goes together with `reference`, so that a payment under way does not hold up a change of the address;
 * `removal` goes together with neither.
 */
const LOCK_MODES = {
  reference: 'for_key_share',
  change: 'for_no_key_update',
  removal: 'pessimistic_write',
} as const;

/** Deleted customers are found by nothing here. */
@Injectable()
export class CustomersRepository {
  constructor(private readonly database: Database) {}

  /** @throws {ProblemError} `customer_external_id_taken` */
  async insert(customer: Customer): Promise<void> {
    await this.write(customer, () => this.database.insert(CustomerEntity, customer));
  }

  find(id: string): Promise<Customer | null> {
    return this.database.selectOne(CustomerEntity, 'WHERE id = $1 AND deleted_at IS NULL', [id]);
  }

  findAll(ids: readonly string[]): Promise<readonly Customer[]> {
    const tail = 'WHERE id = ANY ($1) AND deleted_at IS NULL';
    return this.database.select(CustomerEntity, tail, [ids]);
  }

  /** Those of these ids that are found. */
  async existing(ids: readonly string[]): Promise<readonly string[]> {
    const rows = await this.database.query<{ readonly id: string }>(
      'SELECT id FROM customer WHERE id = ANY ($1) AND deleted_at IS NULL',
      [ids],
    );
    return rows.map(({ id }) => id);
  }

  /** The customer, even if it was deleted. */
  findForHistory(id: string): Promise<Customer | null> {
    return this.customers.findOneBy({ id });
  }

  /** Customers by id, deleted ones too. */
  findAllForHistory(ids: readonly string[]): Promise<readonly Customer[]> {
    return this.database.select(CustomerEntity, 'WHERE id = ANY ($1)', [ids]);
  }

  /** The customer, locked until the transaction ends. */
  lock(id: string, purpose: keyof typeof LOCK_MODES): Promise<Customer | null> {
    this.database.requireTransaction();
    return this.customers.findOne({
      where: { id, deletedAt: IsNull() },
      lock: { mode: LOCK_MODES[purpose] },
    });
  }

  /** The test clocks of those that there are; null: in real time. */
  async testClocksOf(ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    const rows = await this.database.query<{ id: string; clock: string | null }>(
      'SELECT id, test_clock_id AS clock FROM customer WHERE id = ANY($1) AND deleted_at IS NULL',
      [ids],
    );
    return new Map(rows.map(({ id, clock }) => [id, clock]));
  }

  /** The customer, even if it was deleted, kept as it is for what refers to it until the transaction ends. */
  lockForHistory(id: string): Promise<Customer | null> {
    this.database.requireTransaction();
    return this.customers.findOne({ where: { id }, lock: { mode: LOCK_MODES.reference } });
  }

  page(filter: CustomerFilter, request: PageRequest): Promise<Page<Customer>> {
    const query = this.customers.createQueryBuilder('customer').where('customer.deletedAt IS NULL');
    if (filter.externalId !== null) {
      query.andWhere('customer.externalId = :externalId', { externalId: filter.externalId });
    }
    if (filter.email !== null) {
      query.andWhere('customer.email = :email', { email: filter.email });
    }
    return pageById(query, request);
  }

  /**
   * Writes what an update, the first amount or a deletion may change.
   * @throws {ProblemError} `customer_external_id_taken`
   */
  async update(customer: Customer): Promise<void> {
    await this.write(customer, () =>
      this.database.update(CustomerEntity, customer.id, {
        name: customer.name,
        email: customer.email,
        externalId: customer.externalId,
        currency: customer.currency,
        currencyLocked: customer.currencyLocked,
        timezone: customer.timezone,
        address: customer.address,
        taxExempt: customer.taxExempt,
        taxRateIds: customer.taxRateIds,
        invoiceGraceHours: customer.invoiceGraceHours,
        metadata: customer.metadata,
        deletedAt: customer.deletedAt,
        version: customer.version,
        updatedAt: customer.updatedAt,
      }),
    );
  }

  /** The customers on a test clock, deleted ones too, locked until the transaction ends. */
  async lockOn(testClockId: string): Promise<readonly string[]> {
    this.database.requireTransaction();
    const found = await this.customers.find({
      select: { id: true },
      where: { testClockId },
      order: { id: 'ASC' },
      lock: { mode: LOCK_MODES.removal },
    });
    return found.map(({ id }) => id);
  }

  /** Removes the rows: nothing may refer to them any more. */
  async remove(ids: readonly string[]): Promise<void> {
    this.database.requireTransaction();
    if (ids.length > 0) await this.customers.delete([...ids]);
  }

  private async write(customer: Customer, statement: () => Promise<void>): Promise<void> {
    try {
      await statement();
    } catch (error) {
      if (violatedConstraint(error) === 'customer_external_id_unique') {
        throw customerExternalIdTaken(customer.externalId ?? '');
      }
      throw error;
    }
  }

  private get customers() {
    return this.database.repository(CustomerEntity);
  }
}
