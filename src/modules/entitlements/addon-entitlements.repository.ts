import { Injectable } from '@nestjs/common';
import { Database, onViolation } from '../../platform/database';
import { AddonEntitlementEntity } from './addon-entitlement.entity';
import type { AddonEntitlement } from './domain/addon-entitlement';
import { addonEntitlementExists } from './entitlements.errors';

@Injectable()
export class AddonEntitlementsRepository {
  constructor(private readonly database: Database) {}

  /** @throws {ProblemError} `addon_entitlement_exists` */
  async insert(link: AddonEntitlement): Promise<void> {
    await onViolation(
      this.database.insert(AddonEntitlementEntity, link),
      'addon_entitlement_pair_unique',
      () => addonEntitlementExists(link.addonId, link.entitlementId),
    );
  }

  find(id: string): Promise<AddonEntitlement | null> {
    return this.database.selectOne(AddonEntitlementEntity, 'WHERE id = $1', [id]);
  }

  /** Returns the links of one add-on to entitlements, oldest first. */
  findByAddon(addonId: string): Promise<readonly AddonEntitlement[]> {
    return this.database.select(AddonEntitlementEntity, 'WHERE addon_id = $1 ORDER BY id', [
      addonId,
    ]);
  }

  /** Returns the links of several add-ons to entitlements, oldest first. */
  async findByAddons(addonIds: readonly string[]): Promise<readonly AddonEntitlement[]> {
    if (addonIds.length === 0) return [];
    return this.database.select(AddonEntitlementEntity, 'WHERE addon_id = ANY ($1) ORDER BY id', [
      addonIds,
    ]);
  }

  countByAddon(addonId: string): Promise<number> {
    return this.database.repository(AddonEntitlementEntity).countBy({ addonId });
  }

  /** Returns a link of an add-on to an entitlement, locked until the transaction ends; null if it does not exist. */
  lock(id: string): Promise<AddonEntitlement | null> {
    return this.database.selectOne(AddonEntitlementEntity, 'WHERE id = $1 FOR UPDATE', [id]);
  }

  async update(link: AddonEntitlement): Promise<void> {
    await this.database.updateRevised(AddonEntitlementEntity, link, ['mode', 'value', 'metadata']);
  }

  async delete(id: string): Promise<void> {
    await this.database.repository(AddonEntitlementEntity).delete({ id });
  }
}
