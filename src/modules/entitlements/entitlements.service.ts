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
import { metadataTooLarge } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { MetersService } from '../metering';
import {
  type Entitlement,
  type EntitlementChange,
  type EntitlementTerms,
  faultsOfEntitlement,
} from './domain/entitlement';
import { entitlementNotFound, entitlementTermsContradict } from './entitlements.errors';
import { entitlementCreated, entitlementDeleted, entitlementUpdated } from './entitlements.events';
import { EntitlementsRepository } from './entitlements.repository';

@Injectable()
export class EntitlementsService {
  constructor(
    private readonly database: Database,
    private readonly entitlements: EntitlementsRepository,
    private readonly meters: MetersService,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws {ProblemError} `entitlement_terms_contradict`, `reference_not_found`, `meter_backfilling`,
   *   `entitlement_key_taken`
   */
  async create(terms: EntitlementTerms): Promise<Entitlement> {
    const faults = faultsOfEntitlement(terms);
    if (faults.length > 0) throw entitlementTermsContradict(faults);
    const now = this.clock.now();
    const entitlement: Entitlement = {
      ...terms,
      id: newId('ent'),
      version: 1,
      rulesVersion: 1,
      createdAt: now,
      updatedAt: now,
    };
    await this.database.transaction(async () => {
      if (terms.meterId !== null) {
        await this.meters.requireForReference(terms.meterId, '/meter_id');
      }
      await this.entitlements.insert(entitlement);
      await this.outbox.record(entitlementCreated, { after: entitlement, occurredAt: now });
    });
    return entitlement;
  }

  /** @throws {ProblemError} `entitlement_not_found` */
  async get(id: string): Promise<Entitlement> {
    const entitlement = await this.entitlements.find(id);
    if (entitlement === null) throw entitlementNotFound(id);
    return entitlement;
  }

  list(request: PageRequest): Promise<Page<Entitlement>> {
    return this.entitlements.page(request);
  }

  /**
   * Changes name, unit or thresholds and merges the metadata. A no-op update writes nothing and records no event.
   * @throws {ProblemError} `entitlement_not_found`, `precondition_failed`, `metadata_too_large`
   */
  update(id: string, change: EntitlementChange, expected: VersionCondition): Promise<Entitlement> {
    return this.database.transaction(async () => {
      const before = await this.entitlements.lock(id, 'change');
      if (before === null) throw entitlementNotFound(id);
      assertVersion(expected, before);
      const after = this.changed(before, change);
      if (after === before) return before;
      await this.entitlements.update(after);
      await this.outbox.record(entitlementUpdated, { after, before, occurredAt: after.updatedAt });
      return after;
    });
  }

  /**
   * Deletes an entitlement that no plan, link, grant or consumption refers to.
   * @throws {ProblemError} `entitlement_not_found`, `precondition_failed`, `entitlement_in_use`
   */
  delete(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const entitlement = await this.entitlements.lock(id, 'deletion');
      if (entitlement === null) throw entitlementNotFound(id);
      assertVersion(expected, entitlement);
      await this.entitlements.delete(id);
      await this.outbox.record(entitlementDeleted, {
        after: entitlement,
        occurredAt: this.clock.now(),
      });
    });
  }

  private changed(before: Entitlement, change: EntitlementChange): Entitlement {
    const name = change.name ?? before.name;
    const unit = change.unit === undefined ? before.unit : change.unit;
    const thresholds = change.thresholds ?? before.thresholds;
    const metadata = mergeMetadata(before.metadata, change.metadata);
    if (!isWithinMetadataLimits(metadata)) throw metadataTooLarge();
    const same =
      name === before.name &&
      unit === before.unit &&
      isDeepStrictEqual(thresholds, before.thresholds) &&
      isDeepStrictEqual(metadata, before.metadata);
    if (same) return before;
    return {
      ...before,
      name,
      unit,
      thresholds,
      metadata,
      version: before.version + 1,
      updatedAt: this.clock.now(),
    };
  }
}
