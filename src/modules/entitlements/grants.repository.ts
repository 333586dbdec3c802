import { Injectable } from '@nestjs/common';
import { Database, ListQuery, type Page, type PageRequest } from '../../platform/database';
import type { Grant } from './domain/grant';
import { EntitlementGrantEntity } from './entitlement-grant.entity';
import type { BalanceKey } from './balances.repository';

@Injectable()
export class GrantsRepository {
  constructor(private readonly database: Database) {}

  async insert(grant: Grant): Promise<void> {
    this.database.requireTransaction();
    await this.database.insert(EntitlementGrantEntity, toRow(grant));
  }

  /** Writes the balance and the end of a grant. The caller must have locked the entitlement balance of the grant. */
  async update(grant: Grant): Promise<void> {
    this.database.requireTransaction();
    await this.database.updateRevised(EntitlementGrantEntity, grant, ['balance', 'endedAt', 'end']);
  }

  async find({ customerId, entitlementId }: BalanceKey, id: string): Promise<Grant | null> {
    const row = await this.database.selectOne(
      EntitlementGrantEntity,
      'WHERE id = $1 AND customer_id = $2 AND entitlement_id = $3',
      [id, customerId, entitlementId],
    );
    return row === null ? null : toGrant(row);
  }

  /** Returns the grants with no `ended_at`, oldest first. Some may have expired since the last recalculation. */
  async findRunning({ customerId, entitlementId }: BalanceKey): Promise<readonly Grant[]> {
    const rows = await this.database.select(
      EntitlementGrantEntity,
      'WHERE customer_id = $1 AND entitlement_id = $2 AND ended_at IS NULL ORDER BY id',
      [customerId, entitlementId],
    );
    return rows.map(toGrant);
  }

  /** Returns the ids of the entitlements for which a customer has active grants at an instant. */
  entitlementsOf(customerId: string, now: Date): Promise<readonly string[]> {
    return this.database.queryValues<string>(
      `SELECT DISTINCT entitlement_id FROM entitlement_grant
      WHERE customer_id = $1 AND ended_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`,
      [customerId, now],
    );
  }

  async page(
    { customerId, entitlementId }: BalanceKey,
    request: PageRequest,
  ): Promise<Page<Grant>> {
    const query = new ListQuery('entitlement_grant')
      .where('customer_id = $', customerId)
      .where('entitlement_id = $', entitlementId);
    const { items, next } = await query.page(this.database, EntitlementGrantEntity, request);
    return { items: items.map(toGrant), next };
  }
}

function toRow({ rollover, ...grant }: Grant): EntitlementGrantEntity {
  return {
    ...grant,
    rolloverMin: rollover?.min ?? null,
    rolloverMax: rollover?.max ?? null,
  };
}

function toGrant({ rolloverMin: min, rolloverMax: max, ...row }: EntitlementGrantEntity): Grant {
  return { ...row, rollover: min === null || max === null ? null : { min, max } };
}
