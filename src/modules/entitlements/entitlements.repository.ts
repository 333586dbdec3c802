import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
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
    const { name, unit, metadata, version, updatedAt } = entitlement;
    await this.database.update(EntitlementEntity, entitlement.id, {
      name,
      unit,
      metadata,
      version,
      updatedAt,
    });
  }

  /**
   * Deletes an entitlement nothing refers to; the foreign keys of those that may refer to it decide.
   * @throws {ProblemError} `entitlement_in_use`
   */
  async delete(id: string): Promise<void> {
    try {
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
