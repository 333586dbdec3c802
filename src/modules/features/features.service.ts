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
   * Changes name, unit or thresholds and merges the metadata. An update that changes nothing records no event.
   * @throws {ProblemError} `entitlement_not_found`, `precondition_failed`, `entitlement_terms_contradict`,
   *   `metadata_too_large`
   */
  update(id: string, change: FeatureChange, expected: VersionCondition): Promise<Feature> {
    return this.database.transaction(async () => {
      const before = (await this.features.lock(id, 'change')) ?? raise(entitlementNotFound(id));
      assertVersion(expected, before);
      const faults = faultsOfFeature({ ...before, thresholds: change.thresholds ?? [] });
      if (faults.length > 0) throw entitlementTermsContradict(faults);
      const now = this.clock.now();
      const after = revise(before, change, now);
      if (after === before) return before;
      await this.features.update(after);
      await this.outbox.recordChange(entitlementUpdated, { after, before }, now);
      return after;
    });
  }

  /** Returns features, newest first. Leaves out unknown ids. */
  getAll(ids: readonly string[]): Promise<readonly Feature[]> {
    return this.features.findAll(ids);
  }

  getMetered(ids: readonly string[]): Promise<readonly Feature[]> {
    return this.features.findMetered(ids);
  }

  /** Returns the feature and locks it against deletion until the caller's transaction ends; null if there is none. */
  findByKeyForReference(key: string): Promise<Feature | null> {
    return this.features.findByKeyForReference(key);
  }

  /**
   * Returns a feature and locks it until the caller's transaction ends, so that the caller can change a link between an
   * add-on and the feature; null if there is none. Call it before the link is locked: a deletion of the feature also
   * locks the feature first.
   */
  lockForLink(id: string): Promise<Feature | null> {
    return this.features.lock(id, 'change');
  }

  /** Returns features and locks them against deletion until the caller's transaction ends. Leaves out unknown ids. */
  lockForReference(ids: readonly string[]): Promise<readonly Feature[]> {
    return this.features.lockForReference(ids);
  }

  /**
   * Returns the types of features by id, and locks the features against deletion until the caller's transaction ends.
   * @param pointerOf returns the JSON pointer to the request field with the id at this index of `ids`
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

  /** Returns a number that increases when a link between an add-on and the feature is created, changed or deleted. */
  async rulesVersionOf(id: string): Promise<number> {
    const feature = await this.features.find(id);
    invariant(feature !== null, `The entitlement ${id} exists.`);
    return feature.rulesVersion;
  }

  /** Makes cached balances of the feature outdated when the caller's transaction commits. */
  async invalidateBalances(id: string): Promise<void> {
    await this.features.incrementRulesVersion(id);
  }

  /**
   * Returns the feature and locks it until the caller's transaction ends.
   * @throws {ProblemError} `entitlement_not_found`, `precondition_failed`
   */
  async lockForDeletion(id: string, expected: VersionCondition): Promise<Feature> {
    const feature = (await this.features.lock(id, 'deletion')) ?? raise(entitlementNotFound(id));
    assertVersion(expected, feature);
    return feature;
  }

  /**
   * Deletes a feature that the caller has locked.
   * @throws {ProblemError} `entitlement_in_use` if a plan, add-on link, grant or consumption refers to it
   */
  async delete(feature: Feature): Promise<void> {
    this.database.requireTransaction();
    await this.features.delete(feature.id);
    const occurredAt = changedAt(this.clock.now(), feature);
    await this.outbox.record(entitlementDeleted, { after: feature, occurredAt });
  }
}
