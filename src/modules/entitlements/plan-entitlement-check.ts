import { Injectable, type OnModuleInit } from '@nestjs/common';
import { referenceNotFound } from '../../platform/errors';
import { type PlanEntitlement, planEntitlementContradicts, PlanEntitlementRules } from '../catalog';
import { faultsOfPlan } from './domain/plan-entitlement';
import { EntitlementsRepository } from './entitlements.repository';

/** Lends the catalogue, which lies below, what it has to know of entitlements when a plan lists some. */
@Injectable()
export class PlanEntitlementCheck implements OnModuleInit {
  constructor(
    private readonly rules: PlanEntitlementRules,
    private readonly entitlements: EntitlementsRepository,
  ) {}

  onModuleInit(): void {
    this.rules.register((listed, pointer) => this.assertFit(listed, pointer));
  }

  /**
   * Makes sure that they exist until the caller's transaction ends, and that their values fit their types.
   * @throws {ProblemError} `reference_not_found`, `plan_entitlement_contradicts`
   */
  private async assertFit(listed: readonly PlanEntitlement[], pointer: string): Promise<void> {
    const found = await this.entitlements.lockForReference(
      listed.map(({ entitlementId }) => entitlementId),
    );
    const types = new Map(found.map(({ id, type }) => [id, type]));
    for (const [index, { entitlementId }] of listed.entries()) {
      if (!types.has(entitlementId)) {
        throw referenceNotFound(`${pointer}/${index}/entitlement_id`, entitlementId);
      }
    }
    const faults = faultsOfPlan(listed, types, pointer);
    if (faults.length > 0) throw planEntitlementContradicts(faults);
  }
}
