import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { isWithinMetadataLimits, mergeMetadata } from '../../core/metadata';
import { Clock } from '../../platform/clock';
import {
  assertVersion,
  Database,
  type Page,
  type PageRequest,
  type VersionCondition,
} from '../../platform/database';
import { metadataTooLarge, referenceNotFound } from '../../platform/errors';
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
  type CustomerDetails,
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
    const now = this.clock.now();
    const customer: Customer = {
      ...details,
      id: newId('cus'),
      version: 1,
      currencyLocked: false,
      deletedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    await this.database.transaction(async () => {
      if (details.testClockId !== null) {
        await this.testClocks.requireForReference(details.testClockId, '/test_clock_id');
      }
      await this.taxRates.requireForReference(details.taxRateIds, '/tax_rate_ids');
      await this.customers.insert(customer);
      await this.outbox.record(customerCreated, { after: customer, occurredAt: now });
    });
    return customer;
  }

  /** @throws {ProblemError} `customer_not_found` */
  async get(id: string): Promise<Customer> {
    const customer = await this.customers.find(id);
    if (customer === null) throw customerNotFound(id);
    return customer;
  }

  /**
   * The customer that something of the past refers to, even if it was deleted since.
   * @throws {ProblemError} `customer_not_found`
   */
  async getForHistory(id: string): Promise<Customer> {
    const customer = await this.customers.findForHistory(id);
    if (customer === null) throw customerNotFound(id);
    return customer;
  }

  /** Whether there is such a customer: a deleted one is gone. */
  async exists(id: string): Promise<boolean> {
    return (await this.customers.find(id)) !== null;
  }

  list(filter: CustomerFilter, request: PageRequest): Promise<Page<Customer>> {
    return this.customers.page(filter, request);
  }

  /**
   * Changes the fields sent and merges the metadata. What leaves it as it was changes nothing and tells nobody.
   * @throws {ProblemError} `customer_not_found`, `precondition_failed`, `metadata_too_large`,
   * `customer_currency_locked`, `customer_external_id_taken`, `reference_not_found`
   */
  update(id: string, change: CustomerChange, expected: VersionCondition): Promise<Customer> {
    return this.database.transaction(async () => {
      const before = await this.customers.lock(id, 'change');
      if (before === null) throw customerNotFound(id);
      assertVersion(expected, before);
      const details = detailsAfter(before, change);
      if (!isWithinMetadataLimits(details.metadata)) throw metadataTooLarge();
      if (before.currencyLocked && details.currency !== before.currency) {
        throw customerCurrencyLocked(id, before.currency);
      }
      const same = isDeepStrictEqual({ ...before, ...details }, { ...before });
      if (same) return before;
      const { taxRateIds } = details;
      await this.taxRates.requireForReference(taxRateIds, '/tax_rate_ids', before.taxRateIds);
      return this.write(before, details);
    });
  }

  /**
   * Deletes a customer: nothing finds it any more and its external id is free, but its row stays, because history refers
   * to it.
   * @throws {ProblemError} `customer_not_found`, `precondition_failed`
   */
  delete(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const before = await this.customers.lock(id, 'removal');
      if (before === null) throw customerNotFound(id);
      assertVersion(expected, before);
      const now = this.clock.now();
      const after = { ...before, deletedAt: now, version: before.version + 1, updatedAt: now };
      await this.customers.update(after);
      await this.outbox.record(customerDeleted, { after, before, occurredAt: now });
    });
  }

  /**
   * The customer that a field of a request refers to. It cannot be deleted until the caller's transaction ends; others
   * may refer to it and change it meanwhile.
   * @param pointer JSON pointer to the field
   * @throws {ProblemError} `reference_not_found`
   */
  async requireForReference(id: string, pointer: string): Promise<Customer> {
    const customer = await this.customers.lock(id, 'reference');
    if (customer === null) throw referenceNotFound(pointer, id);
    return customer;
  }

  /**
   * Fixes the customer's currency for good, in the transaction that writes the first amount to refer to it. Sets it where
   * it was not chosen. Every later call for the same currency only reads.
   * @param currency ISO 4217
   * @throws {ProblemError} `customer_currency_mismatch`, `customer_not_found`
   */
  fixCurrency(customerId: string, currency: string): Promise<Customer> {
    return this.database.transaction(async () => {
      const seen = await this.get(customerId);
      if (currencyFit(seen, currency) === 'fixed') return seen;
      const before = await this.customers.lock(customerId, 'change');
      if (before === null) throw customerNotFound(customerId);
      switch (currencyFit(before, currency)) {
        case 'fixed':
          return before;
        case 'mismatch':
          throw customerCurrencyMismatch(before.currency, currency);
        case 'free':
          return this.write(before, { currency, currencyLocked: true });
      }
    });
  }

  /** The tax rates that the customer is billed, in its order; also those switched off or archived since. */
  taxRatesOf(customer: Customer): Promise<readonly TaxRate[]> {
    return this.taxRates.getGiven(customer.taxRateIds);
  }

  private async write(before: Customer, columns: Partial<Customer>): Promise<Customer> {
    const now = this.clock.now();
    const after = { ...before, ...columns, version: before.version + 1, updatedAt: now };
    await this.customers.update(after);
    await this.outbox.record(customerUpdated, { after, before, occurredAt: now });
    return after;
  }
}

/** A field that was not sent stays; null was sent to clear it. */
function detailsAfter(before: Customer, change: CustomerChange): CustomerDetails {
  const keep = <Value>(sent: Value | undefined, stored: Value): Value =>
    sent === undefined ? stored : sent;
  return {
    name: keep(change.name, before.name),
    email: keep(change.email, before.email),
    externalId: keep(change.externalId, before.externalId),
    currency: keep(change.currency, before.currency),
    timezone: keep(change.timezone, before.timezone),
    address: keep(change.address, before.address),
    taxExempt: keep(change.taxExempt, before.taxExempt),
    taxRateIds: keep(change.taxRateIds, before.taxRateIds),
    metadata: mergeMetadata(before.metadata, change.metadata),
  };
}
