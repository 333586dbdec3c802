export const ENTITLEMENT_TYPES = ['boolean', 'static', 'metered'] as const;
export type EntitlementType = (typeof ENTITLEMENT_TYPES)[number];

/** The fields of an entitlement definition that balances depend on. */
export interface Entitlement {
  readonly id: string;
  readonly key: string;
  readonly type: EntitlementType;
  readonly meterId: string | null;
  readonly thresholds: readonly number[];
}
