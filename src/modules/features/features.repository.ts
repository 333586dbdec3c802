import { Injectable } from '@nestjs/common';
import {
  Database,
  ListQuery,
  type LockPurpose,
  onViolation,
  type Page,
  type PageRequest,
  ROW_LOCKS,
  violatedConstraint,
} from '../../platform/database';
import type { Feature } from './domain/feature';
import { FeatureEntity } from './feature.entity';
import { entitlementInUse, entitlementKeyTaken } from './features.errors';

@Injectable()
export class FeaturesRepository {
  constructor(private readonly database: Database) {}

  /** @throws {ProblemError} `entitlement_key_taken` */
  async insert(feature: Feature): Promise<void> {
    await onViolation(this.database.insert(FeatureEntity, feature), 'entitlement_key_unique', () =>
      entitlementKeyTaken(feature.key),
    );
  }

  find(id: string): Promise<Feature | null> {
    return this.database.selectOne(FeatureEntity, 'WHERE id = $1', [id]);
  }

  findByKeyForReference(key: string): Promise<Feature | null> {
    return this.database.selectOne(FeatureEntity, `WHERE key = $1 ${ROW_LOCKS.reference}`, [key]);
  }

  findAll(ids: readonly string[]): Promise<readonly Feature[]> {
    return this.database.select(FeatureEntity, 'WHERE id = ANY ($1) ORDER BY id DESC', [ids]);
  }

  async findMetered(ids: readonly string[]): Promise<readonly Feature[]> {
    if (ids.length === 0) return [];
    return this.database.select(
      FeatureEntity,
      'WHERE id = ANY ($1) AND meter_id IS NOT NULL ORDER BY id',
      [ids],
    );
  }

  async incrementRulesVersion(id: string): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(
      'UPDATE entitlement SET rules_version = rules_version + 1 WHERE id = $1',
      [id],
    );
  }

  lock(id: string, purpose: LockPurpose): Promise<Feature | null> {
    return this.database.selectOne(FeatureEntity, `WHERE id = $1 ${ROW_LOCKS[purpose]}`, [id]);
  }

  /** Locks features against deletion until the transaction ends. Ids without a feature are left out. */
  async lockForReference(ids: readonly string[]): Promise<readonly Feature[]> {
    if (ids.length === 0) return [];
    const locked = `WHERE id = ANY ($1) ORDER BY id ${ROW_LOCKS.reference}`;
    return this.database.select(FeatureEntity, locked, [ids]);
  }

  page(request: PageRequest): Promise<Page<Feature>> {
    return new ListQuery('entitlement').page(this.database, FeatureEntity, request);
  }

  async update(feature: Feature): Promise<void> {
    await this.database.updateRevised(FeatureEntity, feature, [
      'name',
      'unit',
      'thresholds',
      'metadata',
    ]);
  }

  /** @throws {ProblemError} `entitlement_in_use` if a plan, add-on link, grant or consumption refers to the feature */
  async delete(id: string): Promise<void> {
    try {
      await this.database.repository(FeatureEntity).delete({ id });
    } catch (error) {
      if (violatedConstraint(error) !== null) throw entitlementInUse(id);
      throw error;
    }
  }
}
