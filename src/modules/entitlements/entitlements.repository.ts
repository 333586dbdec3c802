import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { invariant } from '../../core/invariant';
import {
  Database,
  type Page,
  pageById,
  type PageRequest,
  violatedConstraint,
} from '../../platform/database';
import type { Entitlement } from './domain/entitlement';
import { EntitlementEntity } from './entitlement.entity';
import { entitlementInUse, entitlementKeyTaken } from './entitlements.errors';

/** `reference` is compatible with itself and with `change`; `deletion` excludes all. */
const LOCK_MODES = {
  reference: 'for_key_share',
  change: 'for_no_key_update',
  deletion: 'pessimistic_write',
} as const;

/** Deletes cached balances without a registered usage window. Those with one keep the entitlement. */
const DELETE_UNREGISTERED_BALANCES = `
  DELETE FROM customer_entitlement h USING entitlement e
  WHERE h.entitlement_id = $1 AND e.id = h.entitlement_id AND (e.meter_id IS NULL OR h.window_start_at IS NULL)`;

@Injectable()
export class EntitlementsRepository {
  constructor(private readonly database: Database) {}

  /** @throws {ProblemError} `entitlement_key_taken` */
  async insert(entitlement: Entitlement): Promise<void> {
    try {
      await this.database.insert(EntitlementEntity, entitlement);
    } catch (error) {
      if (violatedConstraint(error) === 'entitlement_key_unique') {
        throw entitlementKeyTaken(entitlement.key);
      }
      throw error;
    }
  }

  find(id: string): Promise<Entitlement | null> {
    return this.entitlements.findOneBy({ id });
  }

  /** Returns the entitlement of a key, protected from deletion until the transaction ends. */
  findByKeyForReference(key: string): Promise<Entitlement | null> {
    this.database.requireTransaction();
    return this.database.selectOne(EntitlementEntity, 'WHERE key = $1 FOR KEY SHARE', [key]);
  }

  /** Returns the entitlements with these ids, newest first. */
  findAll(ids: readonly string[]): Promise<readonly Entitlement[]> {
    return this.database.select(EntitlementEntity, 'WHERE id = ANY ($1) ORDER BY id DESC', [ids]);
  }

  /** Returns those of these entitlements that a meter counts. */
  findMetered(ids: readonly string[]): Promise<readonly Entitlement[]> {
    return this.database.select(
      EntitlementEntity,
      'WHERE id = ANY ($1) AND meter_id IS NOT NULL ORDER BY id',
      [ids],
    );
  }

  async rulesVersionOf(id: string): Promise<number> {
    const entitlement = await this.find(id);
    invariant(entitlement !== null, `The entitlement ${id} exists.`);
    return entitlement.rulesVersion;
  }

  /** Outdates the cached balances of all customers when the transaction commits. */
  async invalidateBalances(id: string): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(
      'UPDATE entitlement SET rules_version = rules_version + 1 WHERE id = $1',
      [id],
    );
  }

  /** Returns the entitlement, locked until the transaction ends. */
  lock(id: string, purpose: keyof typeof LOCK_MODES): Promise<Entitlement | null> {
    this.database.requireTransaction();
    return this.entitlements.findOne({ where: { id }, lock: { mode: LOCK_MODES[purpose] } });
  }

  /** Returns those of these entitlements that exist, protected from deletion until the transaction ends. */
  lockForReference(ids: readonly string[]): Promise<readonly Entitlement[]> {
    this.database.requireTransaction();
    return this.entitlements.find({
      where: { id: In([...ids]) },
      order: { id: 'ASC' },
      lock: { mode: LOCK_MODES.reference },
    });
  }

  page(request: PageRequest): Promise<Page<Entitlement>> {
    return pageById(this.entitlements.createQueryBuilder('entitlement'), request);
  }

  /** Writes the fields that an update may change. */
  async update(entitlement: Entitlement): Promise<void> {
    const { name, unit, thresholds, metadata, version, updatedAt } = entitlement;
    await this.database.update(EntitlementEntity, entitlement.id, {
      name,
      unit,
      thresholds,
      metadata,
      version,
      updatedAt,
    });
  }

  /**
   * Deletes an entitlement. Foreign keys refuse it while something refers to it. Cached balances of checks alone are
   * deleted with it.
   * @throws {ProblemError} `entitlement_in_use`
   */
  async delete(id: string): Promise<void> {
    try {
      await this.database.query(DELETE_UNREGISTERED_BALANCES, [id]);
      await this.entitlements.delete({ id });
    } catch (error) {
      if (violatedConstraint(error) !== null) throw entitlementInUse(id);
      throw error;
    }
  }

  private get entitlements() {
    return this.database.repository(EntitlementEntity);
  }
}
