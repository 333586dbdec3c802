import { Injectable } from '@nestjs/common';
import { changedAt } from '../../core/next-version';
import { raise, referenceNotFound } from '../../platform/errors';
import { Clock } from '../../platform/clock';
import { assertVersion, Database, revise, type VersionCondition } from '../../platform/database';
import { isId, newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { CatalogService } from '../catalog';
import { AddonEntitlementsRepository } from './addon-entitlements.repository';
import {
  type AddonEntitlement,
  type AddonEntitlementChange,
  type AddonEntitlementTerms,
  faultsOfLink,
  MAX_LINKS_PER_ADDON,
  defaultMode,
} from './domain/addon-entitlement';
import type { EntitlementType } from './domain/entitlement';
import {
  addonEntitlementNotFound,
  addonEntitlementValueContradicts,
  tooManyAddonEntitlements,
} from './entitlements.errors';
import {
  addonEntitlementCreated,
  addonEntitlementDeleted,
  addonEntitlementUpdated,
} from './entitlements.events';
import { FeaturesService } from '../features';

@Injectable()
export class AddonEntitlementsService {
  constructor(
    private readonly database: Database,
    private readonly links: AddonEntitlementsRepository,
    private readonly features: FeaturesService,
    private readonly catalog: CatalogService,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws {ProblemError} `reference_not_found`, `addon_entitlement_value_contradicts`, `addon_entitlement_exists`,
   * `too_many_addon_entitlements`
   */
  create(terms: AddonEntitlementTerms): Promise<AddonEntitlement> {
    return this.database.transaction(async () => {
      const { addonId, entitlementId } = terms;
      await this.catalog.requireAddonForCounting(addonId, '/addon_id');
      const entitlement =
        (await this.features.lockForLink(entitlementId)) ??
        raise(referenceNotFound('/entitlement_id', entitlementId));
      const now = this.clock.now();
      const link: AddonEntitlement = {
        ...terms,
        id: newId('aent'),
        version: 1,
        mode: terms.mode ?? defaultMode(entitlement.type),
        createdAt: now,
        updatedAt: now,
      };
      assertFits(entitlement.type, link);
      await this.links.insert(link);
      if ((await this.links.countByAddon(addonId)) > MAX_LINKS_PER_ADDON) {
        throw tooManyAddonEntitlements(addonId);
      }
      await this.features.invalidateBalances(entitlementId);
      await this.outbox.record(addonEntitlementCreated, { after: link, occurredAt: now });
      return link;
    });
  }

  /** @throws {ProblemError} `addon_entitlement_not_found` */
  async get(id: string): Promise<AddonEntitlement> {
    return (await this.links.find(id)) ?? raise(addonEntitlementNotFound(id));
  }

  /** Returns the links of an add-on to entitlements, at most 100, oldest first. Returns none for an unknown add-on. */
  async listByAddon(addonId: string): Promise<readonly AddonEntitlement[]> {
    return isId('addon', addonId) ? this.links.findByAddon(addonId) : [];
  }

  /**
   * Changes the mode or value of a link between an add-on and an entitlement, and merges the metadata. An update that
   * changes nothing records no event.
   * @throws {ProblemError} `addon_entitlement_not_found`, `precondition_failed`, `metadata_too_large`,
   *   `addon_entitlement_value_contradicts`
   */
  update(
    id: string,
    change: AddonEntitlementChange,
    expected: VersionCondition,
  ): Promise<AddonEntitlement> {
    return this.database.transaction(async () => {
      const before = await this.lock(id, expected);
      const now = this.clock.now();
      const after = revise(before, change, now);
      if (after === before) return before;
      const entitlement = await this.features.get(before.entitlementId);
      assertFits(entitlement.type, after);
      await this.links.update(after);
      await this.features.invalidateBalances(after.entitlementId);
      await this.outbox.recordChange(addonEntitlementUpdated, { after, before }, now);
      return after;
    });
  }

  /** @throws {ProblemError} `addon_entitlement_not_found`, `precondition_failed` */
  delete(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const link = await this.lock(id, expected);
      await this.links.delete(id);
      await this.features.invalidateBalances(link.entitlementId);
      await this.outbox.record(addonEntitlementDeleted, {
        after: link,
        occurredAt: changedAt(this.clock.now(), link),
      });
    });
  }

  /** Locks the entitlement of a link, then the link. */
  private async lock(id: string, expected: VersionCondition): Promise<AddonEntitlement> {
    const { entitlementId } = await this.get(id);
    await this.features.lockForLink(entitlementId);
    const link = (await this.links.lock(id)) ?? raise(addonEntitlementNotFound(id));
    assertVersion(expected, link);
    return link;
  }
}

function assertFits(type: EntitlementType, link: Pick<AddonEntitlement, 'mode' | 'value'>): void {
  const faults = faultsOfLink(type, link);
  if (faults.length > 0) throw addonEntitlementValueContradicts(faults);
}
