import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import {
  Database,
  ListQuery,
  type LockPurpose,
  onViolation,
  type Page,
  pageFrom,
  type PageRequest,
  ROW_LOCKS,
  violatedConstraint,
} from '../../platform/database';
import { invalidCursor, raise, referenceNotFound } from '../../platform/errors';
import { planCodeTaken } from './catalog.errors';
import type { Plan, PlanEntitlement, PlanName, PlanVersion } from './domain/plan';
import { PlanEntitlementEntity } from './plan-entitlement.entity';
import type { CatalogPrice } from './domain/price';
import { PlanVersionEntity } from './plan-version.entity';
import { PlanEntity } from './plan.entity';
import { PricesRepository } from './prices.repository';

const BY_ID = 'WHERE id = $1';
const NOT_ARCHIVED = `${BY_ID} AND archived_at IS NULL`;
const ACTIVE_VERSIONS = `
  WHERE (plan_id, number) IN (SELECT * FROM unnest($1::text[], $2::integer[]))`;
const VERSION_NUMBER = 'SELECT number FROM plan_version WHERE plan_id = $1 AND id = $2';
const LAST_VERSIONS = `
  WHERE plan_id = $1 AND ($2::integer IS NULL OR number < $2) ORDER BY number DESC LIMIT $3`;

type PlanRow = Omit<Plan, 'activeVersion'> & { readonly activeNumber: number };
type VersionRow = Omit<PlanVersion, 'prices' | 'entitlements'>;

/** Only `findIncludingArchived`, `findNames`, `findPrices` and the methods that read versions return archived plans. */
@Injectable()
export class PlansRepository {
  constructor(
    private readonly database: Database,
    private readonly prices: PricesRepository,
  ) {}

  async insert({ activeVersion, ...plan }: Plan): Promise<void> {
    this.database.requireTransaction();
    await onViolation(
      this.database.insert(PlanEntity, { ...plan, activeNumber: activeVersion.number }),
      'plan_code_unique',
      () => planCodeTaken(plan.code),
    );
    await this.insertVersion(activeVersion);
  }

  async insertVersion({ prices, entitlements, ...version }: PlanVersion): Promise<void> {
    this.database.requireTransaction();
    await this.database.insert(PlanVersionEntity, version);
    await this.prices.insert(prices, 'planVersionId', version.id, version.createdAt);
    for (const [position, entitlement] of entitlements.entries()) {
      await this.insertEntitlement(version.id, entitlement, position);
    }
  }

  async find(id: string): Promise<Plan | null> {
    return this.withVersionOrNull(await this.database.selectOne(PlanEntity, NOT_ARCHIVED, [id]));
  }

  async findIncludingArchived(id: string): Promise<Plan | null> {
    return this.withVersionOrNull(await this.database.selectOne(PlanEntity, BY_ID, [id]));
  }

  findNames(ids: readonly string[]): Promise<readonly PlanName[]> {
    return this.database.select(PlanEntity, 'WHERE id = ANY ($1)', [ids]);
  }

  /** Returns the plan, locked until the transaction ends; null if it does not exist or is archived. */
  async lock(id: string, purpose: LockPurpose): Promise<Plan | null> {
    const locked = `${NOT_ARCHIVED} ${ROW_LOCKS[purpose]}`;
    return this.withVersionOrNull(await this.database.selectOne(PlanEntity, locked, [id]));
  }

  async page(request: PageRequest): Promise<Page<Plan>> {
    const query = new ListQuery('plan').whereIf(true, 'archived_at IS NULL');
    const { items, next } = await query.page(this.database, PlanEntity, request);
    return { items: await this.withVersions(items), next };
  }

  /** Includes versions of archived plans, because running subscriptions keep their version. */
  async findVersions(ids: readonly string[]): Promise<readonly PlanVersion[]> {
    if (ids.length === 0) return [];
    return this.withContents(
      await this.database.select(PlanVersionEntity, 'WHERE id = ANY ($1)', [ids]),
    );
  }

  async findPrices(planId: string): Promise<{
    readonly currency: string;
    readonly versions: readonly (readonly CatalogPrice[])[];
  } | null> {
    const plan = await this.database.selectOne(PlanEntity, BY_ID, [planId]);
    if (plan === null) return null;
    const versions = await this.database.select(PlanVersionEntity, 'WHERE plan_id = $1', [planId]);
    const prices = await this.prices.findByOwners(
      'planVersionId',
      versions.map(({ id }) => id),
    );
    return { currency: plan.currency, versions: [...prices.values()] };
  }

  /**
   * Returns a page of the versions of a plan, highest number first. Does not sort by id, because ids begin with the
   * time of the creating process, and the clocks of processes differ. The cursor is the id of the last version on the
   * page.
   * @throws {ProblemError} `invalid_cursor` if the cursor is not the id of a version of the plan
   */
  async pageVersions(planId: string, { limit, after }: PageRequest): Promise<Page<PlanVersion>> {
    const below =
      after === null
        ? null
        : ((await this.database.queryValue<number>(VERSION_NUMBER, [planId, after])) ??
          raise(invalidCursor()));
    const found = await this.database.select(PlanVersionEntity, LAST_VERSIONS, [
      planId,
      below,
      limit + 1,
    ]);
    const page = pageFrom(found, limit, ({ id }) => id);
    return { ...page, items: await this.withContents(page.items) };
  }

  async update({ activeVersion, ...plan }: Plan): Promise<void> {
    const row = { ...plan, activeNumber: activeVersion.number };
    const columns = ['name', 'metadata', 'archivedAt', 'activeNumber'] as const;
    await this.database.updateRevised(PlanEntity, row, columns);
  }

  private async insertEntitlement(
    planVersionId: string,
    entitlement: PlanEntitlement,
    position: number,
  ): Promise<void> {
    try {
      await this.database.insert(PlanEntitlementEntity, {
        ...entitlement,
        planVersionId,
        position,
      });
    } catch (error) {
      if (violatedConstraint(error) === 'plan_entitlement_entitlement_id_fkey') {
        const pointer = `/entitlements/${position}/entitlement_id`;
        throw referenceNotFound(pointer, entitlement.entitlementId);
      }
      throw error;
    }
  }

  private async withVersionOrNull(row: PlanRow | null): Promise<Plan | null> {
    if (row === null) return null;
    const [plan] = await this.withVersions([row]);
    return plan ?? null;
  }

  private async withVersions(rows: readonly PlanRow[]): Promise<readonly Plan[]> {
    if (rows.length === 0) return [];
    const found = await this.database.select(PlanVersionEntity, ACTIVE_VERSIONS, [
      rows.map(({ id }) => id),
      rows.map(({ activeNumber }) => activeNumber),
    ]);
    const versions = await this.withContents(found);
    const byPlan = new Map(versions.map((version) => [version.planId, version]));
    return rows.map(({ activeNumber, ...plan }) => {
      const activeVersion = byPlan.get(plan.id);
      invariant(activeVersion?.number === activeNumber, `The plan ${plan.id} has its version.`);
      return { ...plan, activeVersion };
    });
  }

  private async withContents(rows: readonly VersionRow[]): Promise<readonly PlanVersion[]> {
    if (rows.length === 0) return [];
    const ids = rows.map(({ id }) => id);
    const prices = await this.prices.findByOwners('planVersionId', ids);
    const entitlements = await this.entitlementsOf(ids);
    return rows.map((row) => ({
      ...row,
      prices: prices.get(row.id) ?? [],
      entitlements: entitlements.get(row.id) ?? [],
    }));
  }

  async entitlementsOf(
    versionIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly PlanEntitlement[]>> {
    const ofVersions = 'WHERE plan_version_id = ANY ($1) ORDER BY position';
    const found = await this.database.select(PlanEntitlementEntity, ofVersions, [versionIds]);
    const byVersion = new Map<string, PlanEntitlement[]>(versionIds.map((id) => [id, []]));
    for (const { planVersionId, entitlementId, value, isHardLimit, reset } of found) {
      byVersion.get(planVersionId)?.push({ entitlementId, value, isHardLimit, reset });
    }
    return byVersion;
  }
}
