import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
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
import type { Plan, PlanEntitlement, PlanVersion } from './domain/plan';
import { type Price, type PriceTerms, toPrice } from './domain/price';
import { faultsOfPrices } from './domain/price-faults';
import { PlansRepository } from './plans.repository';
import { PriceRules } from './price-rules';
import { PricesRepository } from './prices.repository';

@Injectable()
export class CatalogService {
  constructor(
    private readonly database: Database,
    private readonly addons: AddonsRepository,
    private readonly plans: PlansRepository,
    private readonly prices: PricesRepository,
    private readonly priceRules: PriceRules,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** @throws {ProblemError} `price_terms_contradict`, `reference_not_found`, `addon_code_taken` */
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
      await this.priceRules.assertFit(terms.prices, '/prices');
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

  /**
   * The plan that a field of a request refers to, with its active version. It cannot be archived until the caller's
   * transaction ends; others may refer to it, and a newer version may become active, meanwhile.
   * @param pointer JSON pointer to the field
   * @throws {ProblemError} `reference_not_found`
   */
  async requirePlanForReference(id: string, pointer: string): Promise<Plan> {
    const plan = await this.plans.lock(id, 'reference');
    if (plan === null) throw referenceNotFound(pointer, id);
    return plan;
  }

  /**
   * A version that something already refers to, also of an archived plan. Versions never change: an answer may be kept.
   * @throws {InvariantError} when there is none
   */
  async getPlanVersion(id: string): Promise<PlanVersion> {
    const version = (await this.getPlanVersions([id])).get(id);
    invariant(version !== undefined, `The plan version ${id} exists.`);
    return version;
  }

  /** The same for several, by id; what does not exist is left out. */
  async getPlanVersions(ids: readonly string[]): Promise<ReadonlyMap<string, PlanVersion>> {
    const found = await this.plans.findVersions(ids);
    return new Map(found.map((version) => [version.id, version]));
  }

  /** What plan versions allow, by their ids. It never changes: an answer may be kept. */
  getPlanEntitlements(
    versionIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly PlanEntitlement[]>> {
    return this.plans.entitlementsOf(versionIds);
  }

  /** Add-ons that were sold, by id, archived ones as well; what does not exist is left out. */
  async getSoldAddons(ids: readonly string[]): Promise<ReadonlyMap<string, Addon>> {
    const found = await this.addons.findSold(ids);
    return new Map(found.map((addon) => [addon.id, addon]));
  }

  /** Prices of any plan version or add-on, by id. They never change; what does not exist is left out. */
  getPrices(ids: readonly string[]): Promise<ReadonlyMap<string, Price>> {
    return this.prices.find(ids);
  }

  /** The prices of all versions of a plan, archived or not, with their currency; null where there is none. */
  findPricesOfPlan(
    planId: string,
  ): Promise<{ readonly currency: string; readonly prices: readonly Price[] } | null> {
    return this.plans.findPrices(planId);
  }

  /**
   * Checks prices that are not to be kept, in the caller's transaction.
   * @throws {ProblemError} `price_terms_contradict`, `reference_not_found`
   */
  async assertPrices(prices: readonly PriceTerms[], pointer: string): Promise<void> {
    const faults = faultsOfPrices(prices, pointer);
    if (faults.length > 0) throw priceTermsContradict(faults);
    await this.priceRules.assertFit(prices, pointer);
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
