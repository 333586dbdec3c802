import type { TermsFault } from '../../../core/terms-fault';

interface AllowedByPlan {
  readonly entitlementId: string;
  readonly value: string | null;
}

/**
 * Returns where the entitlements break a rule, for example if a boolean entitlement has a value. A metered entitlement
 * without a value is allowed: it has no limit.
 * @param types types of the existing entitlements, by id
 * @param pointer JSON pointer to the list
 */
export function faultsOfPlanEntitlements(
  entitlements: readonly AllowedByPlan[],
  types: ReadonlyMap<string, 'boolean' | 'static' | 'metered'>,
  pointer: string,
): readonly TermsFault[] {
  const seen = new Set<string>();
  return entitlements.flatMap(({ entitlementId, value }, index) => {
    const type = types.get(entitlementId);
    const rules: readonly (readonly [broken: boolean, field: string, message: string])[] = [
      [seen.has(entitlementId), 'entitlement_id', 'must not be repeated in the plan'],
      [type === 'boolean' && value !== null, 'value', 'must be null for a boolean entitlement'],
      [type === 'static' && value === null, 'value', 'is required for a static entitlement'],
    ];
    seen.add(entitlementId);
    return rules
      .filter(([broken]) => broken)
      .map(([, field, message]) => ({ pointer: `${pointer}/${index}/${field}`, message }));
  });
}
