import { Injectable } from '@nestjs/common';
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
import { MetersService } from '../meters';
import {
  type Feature,
  type FeatureChange,
  type FeatureTerms,
  type FeatureType,
  faultsOfFeature,
} from './domain/feature';
import { entitlementNotFound, entitlementTermsContradict } from './features.errors';
import { entitlementCreated, entitlementDeleted, entitlementUpdated } from './features.events';
import { FeaturesRepository } from './features.repository';

@Injectable()
export class FeaturesService {
  constructor(
    private readonly database: Database,
    private readonly features: FeaturesRepository,
    private readonly meters: MetersService,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws {ProblemError} `entitlement_terms_contradict`, `reference_not_found`, `meter_backfilling`,
   *   `entitlement_key_taken`
   */
  async create(terms: FeatureTerms): Promise<Feature> {
    const faults = faultsOfFeature(terms);
    if (faults.length > 0) throw entitlementTermsContradict(faults);
    const now = this.clock.now();
    const feature: Feature = {
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
      await this.features.insert(feature);
      await this.outbox.record(entitlementCreated, { after: feature, occurredAt: now });
    });
    return feature;
  }

  /** @throws {ProblemError} `entitlement_not_found` */
  async get(id: string): Promise<Feature> {
    return (await this.features.find(id)) ?? raise(entitlementNotFound(id));
  }

  find(id: string): Promise<Feature | null> {
    return this.features.find(id);
  }

  list(request: PageRequest): Promise<Page<Feature>> {
    return this.features.page(request);
  }

  /**
   * Changes name, unit or thresholds and merges the metadata. A no-op update writes nothing and records no event.
   * @throws {ProblemError} `entitlement_not_found`, `precondition_failed`, `entitlement_terms_contradict`,
   *   `metadata_too_large`
   */
  update(id: string, change: FeatureChange, expected: VersionCondition): Promise<Feature> {
    return this.database.transaction(async () => {
      const before = (await this.features.lock(id, 'change')) ?? raise(entitlementNotFound(id));
      assertVersion(expected, before);
      const faults = faultsOfFeature({ ...before, thresholds: change.thresholds ?? [] });
      if (faults.length > 0) throw entitlementTermsContradict(faults);
      const after = revise(before, change, this.clock.now());
      if (after === before) return before;
      await this.features.update(after);
      await this.outbox.record(entitlementUpdated, { after, before, occurredAt: after.updatedAt });
      return after;
    });
  }

  /** Returns the features with these ids, newest first. Ids without a feature are left out. */
  getAll(ids: readonly string[]): Promise<readonly Feature[]> {
    return this.features.findAll(ids);
  }

  /** Returns the features in this list that have a meter. */
  getMetered(ids: readonly string[]): Promise<readonly Feature[]> {
    return this.features.findMetered(ids);
  }

  /** Returns the feature with a key, protected from deletion until the caller's transaction ends; null if there is none. */
  findByKeyForReference(key: string): Promise<Feature | null> {
    return this.features.findByKeyForReference(key);
  }

  /**
   * Returns the feature that a field of a request refers to, protected from deletion until the caller's transaction ends.
   * @param pointer JSON pointer to the field
   * @throws {ProblemError} `reference_not_found`
   */
  async requireForReference(id: string, pointer: string): Promise<Feature> {
    return (await this.features.lock(id, 'reference')) ?? raise(referenceNotFound(pointer, id));
  }

  /**
   * Returns the types of the features that a list in a request refers to, by feature id. The features are protected
   * from deletion until the caller's transaction ends.
   * @param pointerOf JSON pointer to the field with the id, by its index in the list
   * @throws {ProblemError} `reference_not_found`
   */
  async requireTypesForReference(
    ids: readonly string[],
    pointerOf: (index: number) => string,
  ): Promise<ReadonlyMap<string, FeatureType>> {
    const found = await this.features.lockForReference(ids);
    const types = new Map(found.map(({ id, type }) => [id, type]));
    for (const [index, id] of ids.entries()) {
      if (!types.has(id)) throw referenceNotFound(pointerOf(index), id);
    }
    return types;
  }

  /** Returns the rules version of a feature, which increases when a link between an add-on and the feature changes. */
  async rulesVersionOf(id: string): Promise<number> {
    const feature = await this.features.find(id);
    invariant(feature !== null, `The entitlement ${id} exists.`);
    return feature.rulesVersion;
  }

  /**
   * Increments the rules version of a feature. When the caller's transaction commits, cached balances of the feature
   * become outdated.
   */
  async invalidateBalances(id: string): Promise<void> {
    await this.features.incrementRulesVersion(id);
  }

  /**
   * Returns a feature that is to be deleted, locked until the caller's transaction ends.
   * @throws {ProblemError} `entitlement_not_found`, `precondition_failed`
   */
  async lockForDeletion(id: string, expected: VersionCondition): Promise<Feature> {
    const feature = (await this.features.lock(id, 'deletion')) ?? raise(entitlementNotFound(id));
    assertVersion(expected, feature);
    return feature;
  }

  /**
   * Deletes a feature that the caller has locked. Fails if a plan, an add-on, a grant or a consumption still refers to
   * it.
   * @throws {ProblemError} `entitlement_in_use`
   */
  async delete(feature: Feature): Promise<void> {
    this.database.requireTransaction();
    await this.features.delete(feature.id);
    await this.outbox.record(entitlementDeleted, { after: feature, occurredAt: this.clock.now() });
  }
}
