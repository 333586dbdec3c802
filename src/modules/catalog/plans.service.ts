import { Injectable } from '@nestjs/common';
import { changedAt, nextVersion } from '../../core/next-version';
import { raise } from '../../platform/errors';
import { Clock } from '../../platform/clock';
import {
  assertVersion,
  Database,
  type Page,
  type PageRequest,
  revise,
  type VersionCondition,
} from '../../platform/database';
import { newId } from '../../platform/ids';
import { Outbox } from '../../platform/outbox';
import { planNotFound } from './catalog.errors';
import { planArchived, planCreated, planUpdated, planVersionActivated } from './catalog.events';
import {
  nextTerms,
  type Plan,
  type PlanDetailsChange,
  type PlanTerms,
  type PlanVersion,
  type PlanVersionChange,
  type PlanVersionTerms,
} from './domain/plan';
import { toPrice } from './domain/price';
import { PlansRepository } from './plans.repository';
import { ReferencesService } from './references.service';

@Injectable()
export class PlansService {
  constructor(
    private readonly database: Database,
    private readonly plans: PlansRepository,
    private readonly references: ReferencesService,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws {ProblemError} `price_terms_contradict`, `plan_code_taken`, `reference_not_found`, `meter_backfilling`,
   *   `plan_entitlement_contradicts`
   */
  async create(terms: PlanTerms): Promise<Plan> {
    this.references.assertTerms(terms.prices, '/prices');
    const now = this.clock.now();
    const { code, name, currency, metadata } = terms;
    const id = newId('plan');
    const plan: Plan = {
      id,
      version: 1,
      code,
      name,
      currency,
      activeVersion: versionOf(id, 1, terms, now),
      metadata,
      archivedAt: null,
      createdAt: now,
      updatedAt: now,
    };
    await this.database.transaction(async () => {
      await this.references.assertMeters(terms.prices, '/prices');
      await this.references.assertEntitlements(terms.entitlements, '/entitlements');
      await this.plans.insert(plan);
      await this.outbox.record(planCreated, { after: plan, occurredAt: now });
    });
    return plan;
  }

  /** @throws {ProblemError} `plan_not_found` */
  async get(id: string): Promise<Plan> {
    return (await this.plans.find(id)) ?? raise(planNotFound(id));
  }

  list(request: PageRequest): Promise<Page<Plan>> {
    return this.plans.page(request);
  }

  /**
   * Returns the versions of a plan, newest first.
   * @throws {ProblemError} `plan_not_found`
   */
  async listVersions(id: string, request: PageRequest): Promise<Page<PlanVersion>> {
    await this.get(id);
    return this.plans.pageVersions(id, request);
  }

  /**
   * Changes the name, and merges the given metadata into the stored metadata. If nothing changes, writes nothing and
   * records no event.
   * @throws {ProblemError} `plan_not_found`, `precondition_failed`, `metadata_too_large`
   */
  update(id: string, change: PlanDetailsChange, expected: VersionCondition): Promise<Plan> {
    return this.database.transaction(async () => {
      const before = (await this.plans.lock(id, 'change')) ?? raise(planNotFound(id));
      assertVersion(expected, before);
      const now = this.clock.now();
      const after = revise(before, change, now);
      if (after === before) return before;
      await this.plans.update(after);
      await this.outbox.recordChange(planUpdated, { after, before }, now);
      return after;
    });
  }

  /**
   * Creates and activates the next version of a plan. New subscriptions use the new version; running ones keep theirs.
   * @throws {ProblemError} `plan_not_found`, `precondition_failed`, `price_terms_contradict`, `reference_not_found`,
   *   `meter_backfilling`, `plan_entitlement_contradicts`
   */
  activateVersion(
    id: string,
    change: PlanVersionChange,
    expected: VersionCondition,
  ): Promise<PlanVersion> {
    return this.database.transaction(async () => {
      const before = (await this.plans.lock(id, 'change')) ?? raise(planNotFound(id));
      assertVersion(expected, before);
      const terms = nextTerms(before.activeVersion, change);
      this.references.assertTerms(terms.prices, '/prices');
      await this.references.assertMeters(change.prices, '/prices');
      if (change.entitlements !== undefined) {
        await this.references.assertEntitlements(change.entitlements, '/entitlements');
      }
      const now = changedAt(this.clock.now(), before);
      const activeVersion = versionOf(id, before.activeVersion.number + 1, terms, now);
      const after = nextVersion(before, now, { activeVersion });
      await this.plans.insertVersion(activeVersion);
      await this.plans.update(after);
      await this.outbox.record(planVersionActivated, { after, before, occurredAt: now });
      return activeVersion;
    });
  }

  /**
   * Archives a plan: the API hides it, and customers can no longer subscribe to it. Running subscriptions continue. Its
   * code stays taken.
   * @throws {ProblemError} `plan_not_found`, `precondition_failed`
   */
  archive(id: string, expected: VersionCondition): Promise<void> {
    return this.database.transaction(async () => {
      const before = (await this.plans.lock(id, 'deletion')) ?? raise(planNotFound(id));
      assertVersion(expected, before);
      const now = changedAt(this.clock.now(), before);
      const after = revise(before, { archivedAt: now }, now);
      await this.plans.update(after);
      await this.outbox.record(planArchived, { after, before, occurredAt: now });
    });
  }
}

function versionOf(
  planId: string,
  number: number,
  terms: PlanVersionTerms,
  now: Date,
): PlanVersion {
  const { interval, intervalCount, trialDays, proration, entitlements } = terms;
  return {
    id: newId('planv'),
    planId,
    number,
    interval,
    intervalCount,
    trialDays,
    proration,
    prices: terms.prices.map((price) => toPrice(newId('price'), price)),
    entitlements,
    createdAt: now,
  };
}
