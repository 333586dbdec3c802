import { Injectable } from '@nestjs/common';
import { changedAt } from '../../core/next-version';
import { invariant } from '../../core/invariant';
import { Clock } from '../../platform/clock';
import {
  assertVersion,
  Database,
  type Page,
  type PageRequest,
  revise,
  type VersionCondition,
} from '../../platform/database';
import { referenceNotFound, raise } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import type { TaxRate, TaxRateChange, TaxRateTerms } from './domain/tax-rate';
import { taxRateNotFound } from './tax-rates.errors';
import { taxRateArchived, taxRateCreated, taxRateUpdated } from './tax-rates.events';
import { TaxRatesRepository } from './tax-rates.repository';

@Injectable()
export class TaxRatesService {
  constructor(
    private readonly database: Database,
    private readonly rates: TaxRatesRepository,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  async create(terms: TaxRateTerms): Promise<TaxRate> {
    const now = this.clock.now();
    const rate: TaxRate = {
      ...terms,
      id: newId('txr'),
      version: 1,
      isActive: true,
      archivedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    await this.database.transaction(async () => {
      await this.rates.insert(rate);
      await this.outbox.record(taxRateCreated, { after: rate, occurredAt: now });
    });
    return rate;
  }

  /** @throws {ProblemError} `tax_rate_not_found` */
  async get(id: string): Promise<TaxRate> {
    return (await this.rates.find(id)) ?? raise(taxRateNotFound(id));
  }

  list(request: PageRequest): Promise<Page<TaxRate>> {
    return this.rates.page(request);
  }

  /**
   * Activates or deactivates a rate, and merges the given metadata into the stored metadata. If nothing changes, writes
   * nothing and records no event.
   * @throws {ProblemError} `tax_rate_not_found`, `precondition_failed`, `metadata_too_large`
   */
  update(id: string, change: TaxRateChange, expected: VersionCondition): Promise<TaxRate> {
    return this.database.transaction(async () => {
      const before = (await this.rates.lock(id)) ?? raise(taxRateNotFound(id));
      assertVersion(expected, before);
      const now = this.clock.now();
      const after = revise(before, change, now);
      if (after === before) return before;
      await this.rates.update(after);
      await this.outbox.recordChange(taxRateUpdated, { after, before }, now);
      return after;
    });
  }

  /**
   * Archives a rate. The API then hides the rate, and it cannot be assigned to more customers. Customers who have the
   * rate keep it.
   * @throws {ProblemError} `tax_rate_not_found`, `precondition_failed`
   */
  archive(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const before = (await this.rates.lock(id)) ?? raise(taxRateNotFound(id));
      assertVersion(expected, before);
      const now = changedAt(this.clock.now(), before);
      const after = revise(before, { archivedAt: now }, now);
      await this.rates.update(after);
      await this.outbox.record(taxRateArchived, { after, before, occurredAt: now });
    });
  }

  /**
   * Checks that each rate in `ids` exists, is active and is not archived. Skips the rates in `given`. Blocks changes of
   * the checked rates until the caller's transaction ends. Other transactions can assign the same rates meanwhile.
   * @param pointer JSON pointer to the list
   * @param given ids of rates that are already assigned, which may be inactive or archived
   * @throws {ProblemError} `reference_not_found` for the first rate that is missing, inactive or archived
   */
  async requireForReference(
    ids: readonly string[],
    pointer: string,
    given: readonly string[] = [],
  ): Promise<void> {
    const added = ids.filter((id) => !given.includes(id));
    if (added.length === 0) return;
    const found = await this.rates.lockForReference(added);
    const active = found.filter(({ isActive }) => isActive);
    const usable = new Set([...given, ...active.map(({ id }) => id)]);
    const missing = ids.findIndex((id) => !usable.has(id));
    if (missing !== -1) throw referenceNotFound(`${pointer}/${missing}`, ids[missing] ?? '');
  }

  /**
   * Returns rates that are already assigned to customers, by id, even if they are inactive or archived now.
   * @throws {InvariantError} when a rate does not exist
   */
  async getAssigned(ids: readonly string[]): Promise<ReadonlyMap<string, TaxRate>> {
    if (ids.length === 0) return new Map();
    const found = new Map((await this.rates.findByIds(ids)).map((rate) => [rate.id, rate]));
    for (const id of ids) invariant(found.has(id), `The tax rate ${id} exists.`);
    return found;
  }
}
