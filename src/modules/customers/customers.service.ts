import { Injectable } from '@nestjs/common';
import { nextVersion } from '../../core/next-version';
import { Clock } from '../../platform/clock';
import {
  assertVersion,
  Database,
  type ListSummary,
  type Page,
  type PageRequest,
  revise,
  type VersionCondition,
} from '../../platform/database';
import { referenceNotFound, raise } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { type TaxRate, TaxRatesService } from '../tax-rates';
import { TestClocksService } from '../test-clocks';
import {
  customerCurrencyLocked,
  customerCurrencyMismatch,
  customerNotFound,
} from './customers.errors';
import { customerCreated, customerDeleted, customerUpdated } from './customers.events';
import { CustomersRepository } from './customers.repository';
import {
  currencyFit,
  type Customer,
  type CustomerChange,
  type CustomerFilter,
  type NewCustomer,
} from './domain/customer';

@Injectable()
export class CustomersService {
  constructor(
    private readonly database: Database,
    private readonly customers: CustomersRepository,
    private readonly outbox: Outbox,
    private readonly taxRates: TaxRatesService,
    private readonly testClocks: TestClocksService,
    private readonly clock: Clock,
  ) {}

  /** @throws {ProblemError} `customer_external_id_taken`, `reference_not_found` */
  async create(details: NewCustomer): Promise<Customer> {
    const { testClockId } = details;
    const pointer = '/test_clock_id';
    return this.database.transaction(async () => {
      const now =
        testClockId === null
          ? this.clock.now()
          : (await this.testClocks.requireForReference(testClockId, pointer)).instant;
      const customer: Customer = {
        ...details,
        id: newId('cus'),
        version: 1,
        currencyLocked: false,
        deletedAt: null,
        createdAt: now,
        updatedAt: now,
      };
      await this.taxRates.requireForReference(details.taxRateIds, '/tax_rate_ids');
      await this.customers.insert(customer);
      await this.outbox.record(customerCreated, { after: customer, occurredAt: now });
      return customer;
    });
  }

  /** @throws {ProblemError} `customer_not_found` */
  async get(id: string): Promise<Customer> {
    return (await this.customers.find(id)) ?? raise(customerNotFound(id));
  }

  /**
   * Returns a customer that an existing object refers to, deleted or not.
   * @throws {ProblemError} `customer_not_found`
   */
  async getForHistory(id: string): Promise<Customer> {
    return (await this.customers.findForHistory(id)) ?? raise(customerNotFound(id));
  }

  /** Returns customers by id, deleted ones included. */
  async getAllForHistory(ids: readonly string[]): Promise<ReadonlyMap<string, Customer>> {
    const found = await this.customers.findAllForHistory([...new Set(ids)]);
    return new Map(found.map((customer) => [customer.id, customer]));
  }

  /** Returns the given ids that belong to customers who are not deleted. */
  async findExistingIds(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(await this.customers.findExistingIds(ids));
  }

  /**
   * Returns the same ids as {@link findExistingIds}, but first waits for deletions in progress. Locks these customers
   * against deletion until the caller's transaction ends.
   */
  async lockExistingIds(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(await this.customers.lockExistingIds(ids));
  }

  /** Returns the ids of the customers on a test clock, deleted ones included. */
  idsOnTestClock(testClockId: string): Promise<readonly string[]> {
    return this.customers.idsOnTestClock(testClockId);
  }

  /** Returns the given ids that belong to customers who have no test clock and are not deleted. */
  async filterWithoutTestClock(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const clocks = await this.customers.testClocksOf(ids);
    return new Set([...clocks].filter(([, clock]) => clock === null).map(([id]) => id));
  }

  /**
   * Returns the current time of each customer, by customer id. This is the time of the customer's test clock, or real
   * time if there is none. Also works while a test clock advances. Leaves out unknown and deleted customers, and
   * customers on a deleted test clock, who are being purged.
   */
  async currentTimesOf(ids: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    const clocks = await this.customers.testClocksOf(ids);
    const onClocks = [...new Set(clocks.values())].filter((clock) => clock !== null);
    const instants = await this.testClocks.instantsOf(onClocks, 'omit-deleted');
    const now = this.clock.now();
    return new Map(
      [...clocks].flatMap(([id, clock]): [string, Date][] => {
        const current = clock === null ? now : instants.get(clock);
        return current === undefined ? [] : [[id, current]];
      }),
    );
  }

  /**
   * Returns the time of the test clock of a customer. Also works while the clock advances. Returns real time if the
   * customer has no test clock, or if the customer was purged with the clock meanwhile.
   */
  async currentTimeOf({ testClockId }: Pick<Customer, 'testClockId'>): Promise<Date> {
    const instants =
      testClockId === null ? null : await this.testClocks.instantsOf([testClockId], 'all');
    return instants?.get(testClockId ?? '') ?? this.clock.now();
  }

  /**
   * Returns the customer that an existing object belongs to, deleted or not. Blocks deletion of the customer until the
   * caller's transaction ends. Returns null if customer and object were purged after the caller had read the object.
   */
  lockForHistory(id: string): Promise<Customer | null> {
    return this.customers.lockForHistory(id);
  }

  list(filter: CustomerFilter, request: PageRequest): Promise<Page<Customer>> {
    return this.customers.page(filter, request);
  }

  summarize(filter: CustomerFilter): Promise<readonly ListSummary[]> {
    return this.customers.summarize(filter);
  }

  /**
   * Changes the given fields, and merges the given metadata into the stored metadata. If nothing changes, writes
   * nothing and records no event.
   * @throws {ProblemError} `customer_not_found`, `precondition_failed`, `metadata_too_large`,
   *   `customer_currency_locked`, `customer_external_id_taken`, `reference_not_found`
   */
  update(id: string, change: CustomerChange, expected: VersionCondition): Promise<Customer> {
    return this.database.transaction(async () => {
      const before = (await this.customers.lock(id, 'change')) ?? raise(customerNotFound(id));
      assertVersion(expected, before);
      const now = await this.currentTimeOf(before);
      const after = revise(before, change, now);
      if (before.currencyLocked && after.currency !== before.currency) {
        throw customerCurrencyLocked(id, before.currency);
      }
      if (after === before) return before;
      const { taxRateIds } = after;
      await this.taxRates.requireForReference(taxRateIds, '/tax_rate_ids', before.taxRateIds);
      return this.write(before, after, now);
    });
  }

  /**
   * Deletes a customer, and returns its last state. The row stays, because invoices and other history refer to it, but
   * methods return deleted customers only if their comment says so. The external id can be used again.
   * @throws {ProblemError} `customer_not_found`, `precondition_failed`
   */
  delete(id: string, expected: VersionCondition): Promise<Customer> {
    return this.database.transaction(async () => {
      const before = (await this.customers.lock(id, 'deletion')) ?? raise(customerNotFound(id));
      assertVersion(expected, before);
      const now = await this.currentTimeOf(before);
      const after = nextVersion(before, now, { deletedAt: now });
      await this.customers.update(after);
      await this.outbox.recordChange(customerDeleted, { after, before }, now);
      return after;
    });
  }

  /**
   * Returns the customer, and locks it against deletion until the caller's transaction ends. Other transactions may
   * refer to the customer, or change it, meanwhile.
   * @param pointer JSON pointer to the field of the request that contains the id
   * @throws {ProblemError} `reference_not_found`
   */
  async requireForReference(id: string, pointer: string): Promise<Customer> {
    return (await this.customers.lock(id, 'reference')) ?? raise(referenceNotFound(pointer, id));
  }

  /**
   * Like {@link requireForReference}, for an id in the path of the request.
   * @throws {ProblemError} `customer_not_found`
   */
  async lockForReference(id: string): Promise<Customer> {
    return (await this.customers.lock(id, 'reference')) ?? raise(customerNotFound(id));
  }

  /**
   * Returns the customer, locked until the caller's transaction ends. Other callers of this method wait, so that only
   * one transaction at a time counts objects against a limit per customer. Other transactions may still refer to the
   * customer.
   * @throws {ProblemError} `customer_not_found`
   */
  async lockForChange(id: string): Promise<Customer> {
    return (await this.customers.lock(id, 'change')) ?? raise(customerNotFound(id));
  }

  /**
   * Makes the currency of a customer permanent, and sets it if the customer has none. Call it in the transaction that
   * writes an amount of the customer. Later calls with the same currency write nothing.
   * @param currency ISO 4217
   * @throws {ProblemError} `customer_currency_mismatch`, `customer_not_found`
   */
  async fixCurrency(customerId: string, currency: string): Promise<Customer> {
    const fixed = await this.fixCurrencies([{ customerId, currency }]);
    return customerOf(fixed, customerId);
  }

  /**
   * Fixes the currencies of many customers in one transaction, like {@link fixCurrency}. Returns the customers by id.
   * Fails if one customer has amounts in two currencies.
   * @throws {ProblemError} the same as {@link fixCurrency}, for the first customer that fails
   */
  fixCurrencies(
    amounts: readonly { readonly customerId: string; readonly currency: string }[],
  ): Promise<ReadonlyMap<string, Customer>> {
    return this.database.transaction(async () => {
      const ids = [...new Set(amounts.map(({ customerId }) => customerId))].sort();
      const customers = new Map((await this.customers.findAll(ids)).map((one) => [one.id, one]));
      for (const { customerId, currency } of [...amounts].sort(byCustomer)) {
        const seen = customerOf(customers, customerId);
        if (currencyFit(seen, currency) === 'fixed') continue;
        customers.set(customerId, await this.lockCurrency(customerId, currency));
      }
      return customers;
    });
  }

  /** Returns the tax rates of customers by customer id, in display order. Includes inactive and archived rates. */
  async taxRatesOf(
    customers: readonly Customer[],
  ): Promise<ReadonlyMap<string, readonly TaxRate[]>> {
    const ids = new Set(customers.flatMap(({ taxRateIds }) => taxRateIds));
    const rates = await this.taxRates.getAssigned([...ids]);
    return new Map(
      customers.map(({ id, taxRateIds }) => [
        id,
        taxRateIds.flatMap((rateId) => rates.get(rateId) ?? []),
      ]),
    );
  }

  private async lockCurrency(customerId: string, currency: string): Promise<Customer> {
    const before =
      (await this.customers.lock(customerId, 'change')) ?? raise(customerNotFound(customerId));
    switch (currencyFit(before, currency)) {
      case 'fixed':
        return before;
      case 'mismatch':
        throw customerCurrencyMismatch(before.currency, currency);
      case 'free': {
        const now = await this.currentTimeOf(before);
        return this.write(
          before,
          nextVersion(before, now, { currency, currencyLocked: true }),
          now,
        );
      }
    }
  }

  private async write(before: Customer, after: Customer, now: Date): Promise<Customer> {
    await this.customers.update(after);
    await this.outbox.recordChange(customerUpdated, { after, before }, now);
    return after;
  }
}

function byCustomer(
  one: { readonly customerId: string },
  other: { readonly customerId: string },
): number {
  return one.customerId < other.customerId ? -1 : 1;
}

function customerOf(customers: ReadonlyMap<string, Customer>, id: string): Customer {
  const customer = customers.get(id);
  if (customer === undefined) throw customerNotFound(id);
  return customer;
}
