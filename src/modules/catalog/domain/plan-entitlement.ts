import type { TermsFault } from '../../../core/terms-fault';

/** Fields of a plan entitlement that {@link faultsOfPlanEntitlements} checks. */
interface AllowedByPlan {
  readonly entitlementId: string;
  readonly value: string | null;
}

/**
 * Returns the contradictions in the entitlements of a plan. A boolean entitlement has no value, a static entitlement
 * needs one, and a metered entitlement without a value has no limit. A plan lists each entitlement once.
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
