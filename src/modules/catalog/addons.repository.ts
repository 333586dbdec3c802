import { Injectable } from '@nestjs/common';
import {
  Database,
  ListQuery,
  type LockPurpose,
  onViolation,
  type Page,
  type PageRequest,
  ROW_LOCKS,
} from '../../platform/database';
import { AddonEntity } from './addon.entity';
import { addonCodeTaken } from './catalog.errors';
import type { Addon } from './domain/addon';
import { PricesRepository } from './prices.repository';

const NOT_ARCHIVED = 'WHERE id = $1 AND archived_at IS NULL';

type AddonRow = Omit<Addon, 'prices'>;

/** Only `findIncludingArchived` returns archived add-ons. */
@Injectable()
export class AddonsRepository {
  constructor(
    private readonly database: Database,
    private readonly prices: PricesRepository,
  ) {}

  async insert({ prices, ...addon }: Addon): Promise<void> {
    this.database.requireTransaction();
    await onViolation(this.database.insert(AddonEntity, addon), 'addon_code_unique', () =>
      addonCodeTaken(addon.code),
    );
    await this.prices.insert(prices, 'addonId', addon.id, addon.createdAt);
  }

  async find(id: string): Promise<Addon | null> {
    return this.withPricesOrNull(await this.database.selectOne(AddonEntity, NOT_ARCHIVED, [id]));
  }

  /** Returns the add-ons with these ids, archived ones included, because subscriptions keep archived add-ons. */
  async findIncludingArchived(ids: readonly string[]): Promise<readonly Addon[]> {
    if (ids.length === 0) return [];
    return this.withPrices(await this.database.select(AddonEntity, 'WHERE id = ANY ($1)', [ids]));
  }

  /** Returns the add-on, locked until the transaction ends; null if it does not exist or is archived. */
  async lock(id: string, purpose: LockPurpose): Promise<Addon | null> {
    const locked = `${NOT_ARCHIVED} ${ROW_LOCKS[purpose]}`;
    return this.withPricesOrNull(await this.database.selectOne(AddonEntity, locked, [id]));
  }

  async page(request: PageRequest): Promise<Page<Addon>> {
    const query = new ListQuery('addon').whereIf(true, 'archived_at IS NULL');
    const { items, next } = await query.page(this.database, AddonEntity, request);
    return { items: await this.withPrices(items), next };
  }

  async update(addon: Addon): Promise<void> {
    await this.database.updateRevised(AddonEntity, addon, ['name', 'metadata', 'archivedAt']);
  }

  private async withPricesOrNull(row: AddonRow | null): Promise<Addon | null> {
    if (row === null) return null;
    const [addon] = await this.withPrices([row]);
    return addon ?? null;
  }

  private async withPrices(rows: readonly AddonRow[]): Promise<readonly Addon[]> {
    const ids = rows.map(({ id }) => id);
    const prices = await this.prices.findByOwners('addonId', ids);
    return rows.map((row) => ({ ...row, prices: prices.get(row.id) ?? [] }));
  }
}
