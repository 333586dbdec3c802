import { Injectable } from '@nestjs/common';
import type { PlanEntitlement } from './domain/plan';

/**
 * Throws a problem when an entitlement does not exist or its value does not fit its kind.
 * `pointer` is the JSON pointer of the list.
 */
export type PlanEntitlementHook = (
  entitlements: readonly PlanEntitlement[],
  pointer: string,
) => Promise<void>;

/**
 * Hooks that check the entitlements of a plan. The entitlements module, one layer above, registers its check when it
 * starts. A foreign key ensures that entitlements exist even without a hook.
 */
@Injectable()
export class PlanEntitlementHooks {
  private readonly hooks: PlanEntitlementHook[] = [];

  register(hook: PlanEntitlementHook): void {
    this.hooks.push(hook);
  }

  async assertValid(entitlements: readonly PlanEntitlement[], pointer: string): Promise<void> {
    if (entitlements.length === 0) return;
    for (const hook of this.hooks) await hook(entitlements, pointer);
  }
}
