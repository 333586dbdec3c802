import type { EntitlementType, TermsFault } from './entitlement';

/** What a plan allows of one entitlement, as far as the type of the entitlement limits it. */
interface AllowedByPlan {
  readonly entitlementId: string;
  readonly value: string | null;
}

/**
 * The places where the entitlements of a plan contradict their types: a boolean one has no value, a static one has one; no
 * value for a metered one is no limit. Each comes once.
 * @param types by id, of those that exist
 * @param pointer JSON pointer to the list
 */
export function faultsOfPlan(
  entitlements: readonly AllowedByPlan[],
  types: ReadonlyMap<string, EntitlementType>,
  pointer: string,
): readonly TermsFault[] {
  const seen = new Set<string>();
  return entitlements.flatMap(({ entitlementId, value }, index) => {
    const type = types.get(entitlementId);
    const rules: readonly (readonly [broken: boolean, field: string, message: string])[] = [
      [seen.has(entitlementId), 'entitlement_id', 'comes twice in the plan'],
      [type === 'boolean' && value !== null, 'value', 'is not for a boolean entitlement'],
      [type === 'static' && value === null, 'value', 'is required for a static entitlement'],
    ];
    seen.add(entitlementId);
    return rules
      .filter(([broken]) => broken)
      .map(([, field, message]) => ({ pointer: `${pointer}/${index}/${field}`, message }));
  });
}
