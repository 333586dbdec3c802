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
import { AddonsRepository } from './addons.repository';
import { addonNotFound } from './catalog.errors';
import { addonArchived, addonCreated, addonUpdated } from './catalog.events';
import type { Addon, AddonChange, AddonTerms } from './domain/addon';
import type { Plan, PlanEntitlement, PlanName, PlanVersion } from './domain/plan';
import { type CatalogPrice, type PriceTerms, toPrice } from './domain/price';
import { PlansRepository } from './plans.repository';
import { PricesRepository } from './prices.repository';
import { ReferencesService } from './references.service';

@Injectable()
export class CatalogService {
  constructor(
    private readonly database: Database,
    private readonly addons: AddonsRepository,
    private readonly plans: PlansRepository,
    private readonly prices: PricesRepository,
    private readonly references: ReferencesService,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** @throws {ProblemError} `price_terms_contradict`, `reference_not_found`, `meter_backfilling`, `addon_code_taken` */
  async createAddon(terms: AddonTerms): Promise<Addon> {
    this.references.assertTerms(terms.prices, '/prices');
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
      await this.references.assertMeters(terms.prices, '/prices');
      await this.addons.insert(addon);
      await this.outbox.record(addonCreated, { after: addon, occurredAt: now });
    });
    return addon;
  }

  /** @throws {ProblemError} `addon_not_found` */
  async getAddon(id: string): Promise<Addon> {
    return (await this.addons.find(id)) ?? raise(addonNotFound(id));
  }

  listAddons(request: PageRequest): Promise<Page<Addon>> {
    return this.addons.page(request);
  }

  /**
   * Changes the name, and merges the given metadata into the stored metadata. If nothing changes, writes nothing and
   * records no event.
   * @throws {ProblemError} `addon_not_found`, `precondition_failed`, `metadata_too_large`
   */
  updateAddon(id: string, change: AddonChange, expected: VersionCondition): Promise<Addon> {
    return this.database.transaction(async () => {
      const before = (await this.addons.lock(id, 'change')) ?? raise(addonNotFound(id));
      assertVersion(expected, before);
      const now = this.clock.now();
      const after = revise(before, change, now);
      if (after === before) return before;
      await this.addons.update(after);
      await this.outbox.recordChange(addonUpdated, { after, before }, now);
      return after;
    });
  }

  /**
   * Archives an add-on: the API hides it, and it cannot be sold again. Existing subscriptions keep it. Its code stays
   * taken.
   * @throws {ProblemError} `addon_not_found`, `precondition_failed`
   */
  archiveAddon(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const before = (await this.addons.lock(id, 'deletion')) ?? raise(addonNotFound(id));
      assertVersion(expected, before);
      const now = changedAt(this.clock.now(), before);
      const after = revise(before, { archivedAt: now }, now);
      await this.addons.update(after);
      await this.outbox.record(addonArchived, { after, before, occurredAt: now });
    });
  }

  /**
   * Returns the add-on, and locks it against archiving until the caller's transaction ends. Other transactions can
   * refer to the add-on meanwhile.
   * @param pointer JSON pointer to the field of the request that contains the id
   * @throws {ProblemError} `reference_not_found`
   */
  requireAddonForReference(id: string, pointer: string): Promise<Addon> {
    return this.requireAddon(id, pointer, 'reference');
  }

  /**
   * Returns the add-on, and locks it until the caller's transaction ends. Only one transaction at a time holds this
   * lock. Its holder can count the entitlements linked to the add-on and link another one, without a concurrent change.
   * @param pointer JSON pointer to the field of the request that contains the id
   * @throws {ProblemError} `reference_not_found`
   */
  requireAddonForCounting(id: string, pointer: string): Promise<Addon> {
    return this.requireAddon(id, pointer, 'change');
  }

  /**
   * Returns the plan with its active version, and locks the plan against archiving until the caller's transaction ends.
   * Other transactions can refer to the plan or activate a newer version meanwhile.
   * @param pointer JSON pointer to the field of the request that contains the id
   * @throws {ProblemError} `reference_not_found`
   */
  async requirePlanForReference(id: string, pointer: string): Promise<Plan> {
    return (await this.plans.lock(id, 'reference')) ?? raise(referenceNotFound(pointer, id));
  }

  /** Returns the plan with its active version; null if it does not exist. Takes no lock. */
  findPlanIncludingArchived(id: string): Promise<Plan | null> {
    return this.plans.findIncludingArchived(id);
  }

  /** Returns ids, codes and names of plans. Includes archived plans. Leaves out unknown ids. */
  getPlanNames(ids: readonly string[]): Promise<readonly PlanName[]> {
    return this.plans.findNames(ids);
  }

  /**
   * Returns a plan version, even if its plan is archived. Versions are immutable and may be cached.
   * @throws {InvariantError} if the version does not exist
   */
  async getPlanVersion(id: string): Promise<PlanVersion> {
    const version = (await this.getPlanVersions([id])).get(id);
    invariant(version !== undefined, `The plan version ${id} exists.`);
    return version;
  }

  /** Returns plan versions by id, including versions of archived plans. Unknown ids are left out. */
  async getPlanVersions(ids: readonly string[]): Promise<ReadonlyMap<string, PlanVersion>> {
    const found = await this.plans.findVersions(ids);
    return new Map(found.map((version) => [version.id, version]));
  }

  /** Returns the entitlements of plan versions, by version id. These entitlements are immutable and may be cached. */
  getPlanEntitlements(
    versionIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly PlanEntitlement[]>> {
    return this.plans.entitlementsOf(versionIds);
  }

  /** Returns add-ons by id, archived ones included. Unknown ids are left out. */
  async getAddonsIncludingArchived(ids: readonly string[]): Promise<ReadonlyMap<string, Addon>> {
    const found = await this.addons.findIncludingArchived(ids);
    return new Map(found.map((addon) => [addon.id, addon]));
  }

  /** Returns the price ids of all versions of plans, by plan id. Includes archived plans. */
  getPriceIdsOfPlans(planIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.prices.idsOfPlans(planIds);
  }

  /** Returns the names of prices by id. Includes prices of archived plans and add-ons. */
  getPriceNames(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.prices.namesOf(ids);
  }

  /**
   * Returns the currency of a plan and the prices of each of its versions, even if the plan is archived. Null if there
   * is no such plan.
   */
  findPricesOfPlan(planId: string): Promise<{
    readonly currency: string;
    readonly versions: readonly (readonly CatalogPrice[])[];
  } | null> {
    return this.plans.findPrices(planId);
  }

  /**
   * Checks prices without storing them. Locks their meters against archiving until the caller's transaction ends.
   * @throws {ProblemError} `price_terms_contradict`, `reference_not_found`, `meter_backfilling`
   */
  async assertPrices(prices: readonly PriceTerms[], pointer: string): Promise<void> {
    this.references.assertTerms(prices, pointer);
    await this.references.assertMeters(prices, pointer);
  }

  private async requireAddon(
    id: string,
    pointer: string,
    purpose: 'reference' | 'change',
  ): Promise<Addon> {
    return (await this.addons.lock(id, purpose)) ?? raise(referenceNotFound(pointer, id));
  }
}
