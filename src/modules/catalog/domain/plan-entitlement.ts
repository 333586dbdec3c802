import type { TermsFault } from '../../../core/terms-fault';

interface AllowedByPlan {
  readonly entitlementId: string;
  readonly value: string | null;
}

/**
 * Returns the faults of the entitlements of a plan, e.g. a boolean entitlement with a value. A metered entitlement may
 * have no value: usage then has no limit.
 * @param types types of the existing entitlements, by id
 * @param pointer JSON pointer to the list of entitlements in the request
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
