import { Injectable, type OnModuleInit } from '@nestjs/common';
import { referenceNotFound } from '../../platform/errors';
import { type PlanEntitlement, planEntitlementContradicts, PlanEntitlementHooks } from '../catalog';
import { faultsOfPlan } from './domain/plan-entitlement';
import { EntitlementsRepository } from './entitlements.repository';

/** Registers the entitlement checks of plans with the catalogue, a lower module that does not know entitlements. */
@Injectable()
export class PlanEntitlementCheck implements OnModuleInit {
  constructor(
    private readonly hooks: PlanEntitlementHooks,
    private readonly entitlements: EntitlementsRepository,
  ) {}

  onModuleInit(): void {
    this.hooks.register((listed, pointer) => this.assertFit(listed, pointer));
  }

  /**
   * Locks the listed entitlements until the transaction ends and checks their values against their types.
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
