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
import { AddonsRepository } from './addons.repository';
import { addonNotFound, priceTermsContradict } from './catalog.errors';
import { addonArchived, addonCreated, addonUpdated } from './catalog.events';
import type { Addon, AddonChange, AddonTerms } from './domain/addon';
import { toPrice } from './domain/price';
import { faultsOfPrices } from './domain/price-faults';

@Injectable()
export class CatalogService {
  constructor(
    private readonly database: Database,
    private readonly addons: AddonsRepository,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** @throws {ProblemError} `price_terms_contradict`, `addon_code_taken` */
  async createAddon(terms: AddonTerms): Promise<Addon> {
    const faults = faultsOfPrices(terms.prices, '/prices');
    if (faults.length > 0) throw priceTermsContradict(faults);
    const now = this.clock.now();
    const addon: Addon = {
      ...terms,
      id: newId('addon'),
      version: 1,
      prices: terms.prices.map((price) => toPrice(newId('price'), price)),
      archivedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    await this.database.transaction(async () => {
      await this.addons.insert(addon);
      await this.outbox.record(addonCreated, { after: addon, occurredAt: now });
    });
    return addon;
  }

  /** @throws {ProblemError} `addon_not_found` */
  async getAddon(id: string): Promise<Addon> {
    const addon = await this.addons.find(id);
    if (addon === null) throw addonNotFound(id);
    return addon;
  }

  listAddons(request: PageRequest): Promise<Page<Addon>> {
    return this.addons.page(request);
  }

  /**
   * Renames an add-on and merges its metadata. What leaves it as it was changes nothing and tells nobody.
   * @throws {ProblemError} `addon_not_found`, `precondition_failed`, `metadata_too_large`
   */
  updateAddon(id: string, change: AddonChange, expected: VersionCondition): Promise<Addon> {
    return this.database.transaction(async () => {
      const before = await this.addons.lock(id, 'change');
      if (before === null) throw addonNotFound(id);
      assertVersion(expected, before);
      const after = this.changed(before, change);
      if (after === before) return before;
      await this.addons.update(after);
      await this.outbox.record(addonUpdated, { after, before, occurredAt: after.updatedAt });
      return after;
    });
  }

  /**
   * Archives an add-on: nothing finds it any more and nothing new can refer to it; what refers to it stays as it is. Its
   * code stays taken.
   * @throws {ProblemError} `addon_not_found`, `precondition_failed`
   */
  archiveAddon(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const before = await this.addons.lock(id, 'removal');
      if (before === null) throw addonNotFound(id);
      assertVersion(expected, before);
      const now = this.clock.now();
      const after = { ...before, archivedAt: now, version: before.version + 1, updatedAt: now };
      await this.addons.update(after);
      await this.outbox.record(addonArchived, { after, before, occurredAt: now });
    });
  }

  /**
   * The add-on that a field of a request refers to. It cannot be archived until the caller's transaction ends; others may
   * refer to it meanwhile.
   * @param pointer JSON pointer to the field
   * @throws {ProblemError} `reference_not_found`
   */
  requireAddonForReference(id: string, pointer: string): Promise<Addon> {
    return this.requireAddon(id, pointer, 'reference');
  }

  /**
   * The same, for a caller that counts what refers to the add-on: whoever else counts waits until its transaction ends.
   * @param pointer JSON pointer to the field
   * @throws {ProblemError} `reference_not_found`
   */
  requireAddonForCounting(id: string, pointer: string): Promise<Addon> {
    return this.requireAddon(id, pointer, 'change');
  }

  private async requireAddon(
    id: string,
    pointer: string,
    purpose: 'reference' | 'change',
  ): Promise<Addon> {
    const addon = await this.addons.lock(id, purpose);
    if (addon === null) throw referenceNotFound(pointer, id);
    return addon;
  }

  private changed(before: Addon, change: AddonChange): Addon {
    const name = change.name ?? before.name;
    const metadata = mergeMetadata(before.metadata, change.metadata);
    if (!isWithinMetadataLimits(metadata)) throw metadataTooLarge();
    const same = name === before.name && isDeepStrictEqual(metadata, before.metadata);
    if (same) return before;
    return {
      ...before,
      name,
      metadata,
      version: before.version + 1,
      updatedAt: this.clock.now(),
    };
  }
}
