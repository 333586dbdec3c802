import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';
import { type CatalogPrice, termsOfPrice, toPrice } from './domain/price';
import { PriceEntity } from './price.entity';

const IDS_OF_PLANS = `
  SELECT version.plan_id, array_agg(price.id) AS ids
  FROM plan_version version JOIN price ON price.plan_version_id = version.id
  WHERE version.plan_id = ANY ($1) GROUP BY version.plan_id`;

const NAMES = 'SELECT id, name FROM price WHERE id = ANY ($1)';

const OF_OWNERS = {
  addonId: 'WHERE addon_id = ANY ($1) ORDER BY id',
  planVersionId: 'WHERE plan_version_id = ANY ($1) ORDER BY id',
} as const;

type Owner = keyof typeof OF_OWNERS;

@Injectable()
export class PricesRepository {
  constructor(private readonly database: Database) {}

  async insert(
    prices: readonly CatalogPrice[],
    owner: Owner,
    ownerId: string,
    createdAt: Date,
  ): Promise<void> {
    this.database.requireTransaction();
    const rows = prices.map((price) => ({
      ...termsOfPrice(price),
      id: price.id,
      addonId: null,
      planVersionId: null,
      [owner]: ownerId,
      createdAt,
    }));
    for (const row of rows) await this.database.insert(PriceEntity, row);
  }

  /**
   * Returns prices by the id of their plan version or add-on, in the order of the request that created them. The list
   * is empty for an id without prices.
   */
  async findByOwners(
    owner: Owner,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, readonly CatalogPrice[]>> {
    const byOwner = new Map<string, CatalogPrice[]>(ids.map((id) => [id, []]));
    if (ids.length === 0) return byOwner;
    const found = await this.database.select(PriceEntity, OF_OWNERS[owner], [ids]);
    for (const row of found) byOwner.get(row[owner] ?? '')?.push(fromRow(row));
    return byOwner;
  }

  async idsOfPlans(planIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    if (planIds.length === 0) return new Map();
    const rows = await this.database.query<{ plan_id: string; ids: readonly string[] }>(
      IDS_OF_PLANS,
      [planIds],
    );
    return new Map(rows.map(({ plan_id: planId, ids }) => [planId, ids]));
  }

  async namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (ids.length === 0) return new Map();
    const rows = await this.database.query<{ id: string; name: string }>(NAMES, [ids]);
    return new Map(rows.map(({ id, name }) => [id, name]));
  }
}

function fromRow({ id, addonId, planVersionId, createdAt, ...terms }: PriceEntity): CatalogPrice {
  return toPrice(id, terms);
}
