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

/** `reference` goes together with itself and with `change`; `removal` goes together with nothing. */
const LOCK_MODES = {
  reference: 'for_key_share',
  change: 'for_no_key_update',
  removal: 'pessimistic_write',
} as const;

/** What was found of customers, but for those that a window of a meter is registered for. */
const FORGET_ASKED = `
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

  /** The entitlement of a key, kept from being deleted until the transaction ends. */
  findByKeyForReference(key: string): Promise<Entitlement | null> {
    this.database.requireTransaction();
    return this.database.selectOne(EntitlementEntity, 'WHERE key = $1 FOR KEY SHARE', [key]);
  }

  /** Those with these ids, the newest first. */
  findAll(ids: readonly string[]): Promise<readonly Entitlement[]> {
    return this.database.select(EntitlementEntity, 'WHERE id = ANY ($1) ORDER BY id DESC', [ids]);
  }

  /** Of these, those that a meter counts. */
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

  /** What customers were found to have of it holds no more once the transaction commits. */
  async changeRules(id: string): Promise<void> {
    this.database.requireTransaction();
    await this.database.query(
      'UPDATE entitlement SET rules_version = rules_version + 1 WHERE id = $1',
      [id],
    );
  }

  /** The entitlement, locked until the transaction ends. */
  lock(id: string, purpose: keyof typeof LOCK_MODES): Promise<Entitlement | null> {
    this.database.requireTransaction();
    return this.entitlements.findOne({ where: { id }, lock: { mode: LOCK_MODES[purpose] } });
  }

  /** Those of these entitlements that exist, kept from being deleted until the transaction ends. */
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

  /** Writes what an update may change. */
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
   * Deletes an entitlement nothing refers to; the foreign keys of those that may refer to it decide. That somebody asked
   * whether a customer has it does not keep it.
   * @throws {ProblemError} `entitlement_in_use`
   */
  async delete(id: string): Promise<void> {
    try {
      await this.database.query(FORGET_ASKED, [id]);
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
