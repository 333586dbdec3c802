import { Injectable } from '@nestjs/common';
import type { PlanEntitlement } from './domain/plan';

/** Throws a problem where entitlements do not exist or their values do not fit; `pointer` is that of the list. */
export type PlanEntitlementCheck = (
  entitlements: readonly PlanEntitlement[],
  pointer: string,
) => Promise<void>;

/**
 * What the entitlements of a plan must fulfil is known one layer above, where entitlements live: that module registers
 * its check here while it starts. The foreign key holds their existence either way.
 */
@Injectable()
export class PlanEntitlementRules {
  private readonly checks: PlanEntitlementCheck[] = [];

  register(check: PlanEntitlementCheck): void {
    this.checks.push(check);
  }

  async assertFit(entitlements: readonly PlanEntitlement[], pointer: string): Promise<void> {
    if (entitlements.length === 0) return;
    for (const check of this.checks) await check(entitlements, pointer);
  }
}
