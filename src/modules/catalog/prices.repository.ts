import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Database } from '../../platform/database';
import { type Price, termsOfPrice, toPrice } from './domain/price';
import { PriceEntity } from './price.entity';

type Owner = 'addonId' | 'planVersionId';

/** Prices are written once, with what they belong to, and only read after that. */
@Injectable()
export class PricesRepository {
  constructor(private readonly database: Database) {}

  async insert(
    prices: readonly Price[],
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

  /** The prices of each of these owners, in the order they were sent; an owner without any has an empty list. */
  async findByOwners(
    owner: Owner,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, readonly Price[]>> {
    const byOwner = new Map<string, Price[]>(ids.map((id) => [id, []]));
    if (ids.length === 0) return byOwner;
    const found = await this.prices.find({
      where: { [owner]: In([...ids]) },
      order: { id: 'ASC' },
    });
    for (const row of found) byOwner.get(row[owner] ?? '')?.push(toPrice(row.id, row));
    return byOwner;
  }

  /** The prices with these ids, by id. */
  async find(ids: readonly string[]): Promise<ReadonlyMap<string, Price>> {
    if (ids.length === 0) return new Map();
    const found = await this.prices.find({ where: { id: In([...ids]) } });
    return new Map(found.map((row) => [row.id, toPrice(row.id, row)]));
  }

  private get prices() {
    return this.database.repository(PriceEntity);
  }
}
